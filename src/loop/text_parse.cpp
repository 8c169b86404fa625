#include <charconv>
#include <limits>

#include "loop/parser.h"
#include "loop/text.h"

namespace hone::loop {

template <typename Id>
const Id& Parser::find(const Names<Id>& scope, const Name& name, std::string_view what) const {
  for (size_t i = scope.size(); i-- > 0;)
    if (scope[i].first == name.key) return scope[i].second;
  lexer_.fail_at(name.at, "no " + std::string(what) + " named " + name.key + " is in scope");
}

Parser::Name Parser::name(std::string_view what) {
  Token token = lexer_.expect(Token::Kind::kName, what);
  Name result{token.at, token.text, token.text};
  if (lexer_.accept("@")) result.key += "@" + std::to_string(integer("the number of the name"));
  return result;
}

int64_t Parser::integer(std::string_view what) {
  const bool negative = lexer_.accept("-");
  const Token token = lexer_.expect(Token::Kind::kNumber, what);
  const std::string text = (negative ? "-" : "") + token.text;
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    lexer_.fail_at(token.at, text + " is not a 64-bit integer");
  return value;
}

int Parser::small_integer(std::string_view what, int least) {
  const Position at = lexer_.at();
  const int64_t value = integer(what);
  if (value < least || value > std::numeric_limits<int>::max())
    lexer_.fail_at(at, std::string(what) + " cannot be " + std::to_string(value));
  return static_cast<int>(value);
}

Type Parser::type() {
  const Token token = lexer_.expect(Token::Kind::kName, "a type");
  const auto found = type_of_word(token.text);
  if (!found) lexer_.fail_at(token.at, "unknown type " + token.text);
  return *found;
}

BufferDecl Parser::declaration(const Name& name) {
  BufferDecl decl{name.name, ElementType::kInvalid, 0, Scope::kIn, 64};
  lexer_.expect(":");
  const Position at = lexer_.at();
  const Type element = type();
  if (element.lanes != 1) lexer_.fail_at(at, "a buffer holds scalars");
  decl.element = element.element;
  lexer_.expect("[");
  decl.size = integer("the number of elements");
  lexer_.expect("]");
  const Token scope = lexer_.expect(Token::Kind::kName, "a scope");
  bool known = false;
  for (const Scope s :
       {Scope::kIn, Scope::kOut, Scope::kConstant, Scope::kThread, Scope::kRegister})
    if (word_of(s) == scope.text) {
      decl.scope = s;
      known = true;
    }
  if (!known)
    lexer_.fail_at(scope.at, "unknown scope " + scope.text, "in, out, constant, thread, register");
  if (lexer_.accept("align")) decl.alignment = small_integer("the alignment", 1);
  return decl;
}

VarId Parser::define_var(const Name& name, Type implied) {
  if (lexer_.accept(":")) implied = type();
  const VarId id = function_.add_var(name.name, implied);
  vars_.emplace_back(name.key, id);
  return id;
}

void Parser::signature() {
  lexer_.expect("kernel");
  function_.name = name("the name of the kernel").name;
  lexer_.expect("(");
  while (!lexer_.sees(";") && !lexer_.sees(")")) {
    const Name argument = name("an argument");
    BufferDecl decl = declaration(argument);
    if (decl.scope > Scope::kConstant)
      lexer_.fail_at(argument.at, "an argument is in, out or constant");
    buffers_.emplace_back(argument.key, function_.add_buffer(std::move(decl)));
    if (!lexer_.accept(",")) break;
  }
  if (lexer_.accept(";")) {
    do function_.extents.push_back(name("the name of an extent").name);
    while (lexer_.accept(","));
  }
  lexer_.expect(")");
}

Function Parser::function() {
  const int column = lexer_.at().column;
  signature();
  function_.body = block(column);
  lexer_.expect_end();
  return std::move(function_);
}

// The statements that stand to the right of a column, below each other.
Block Parser::block(int left_of) {
  const int column = lexer_.at().column;
  if (lexer_.sees(Token::Kind::kEnd) || column <= left_of) return {};
  return block_at(column);
}

Block Parser::block_at(int column) {
  const Nested nested(lexer_);
  const size_t vars = vars_.size();
  const size_t buffers = buffers_.size();
  Block result;
  while (!lexer_.sees(Token::Kind::kEnd) && lexer_.at().column >= column) {
    if (lexer_.at().column > column)
      lexer_.fail_at(lexer_.at(), "this line stands further right than the one before it");
    operations_ = 0;
    if (!lexer_.accept("pass")) result.push_back(statement(column));
  }
  vars_.resize(vars);
  buffers_.resize(buffers);
  return result;
}

Stmt Parser::statement(int column) {
  for (const LoopKind kind : {LoopKind::kSerial, LoopKind::kParallel, LoopKind::kUnrolled})
    if (lexer_.accept(word_of(kind))) {
      const size_t vars = vars_.size();
      Stmt stmt = loop(kind);
      stmt.body = block(column);
      vars_.resize(vars);
      return stmt;
    }
  if (lexer_.accept("let")) return let();
  if (lexer_.accept("alloc")) return alloc(column);
  if (lexer_.accept("prefetch")) {
    const BufferId buffer = find(buffers_, name("a buffer"), "buffer");
    return make_prefetch(buffer, access().index);
  }
  if (!lexer_.accept("if")) return store();
  Expr condition = expression();
  return make_if(std::move(condition), block(column));
}

Stmt Parser::loop(LoopKind kind) {
  const Name counter = name("a loop variable");
  std::optional<Type> var_type;
  if (lexer_.accept(":")) var_type = type();
  lexer_.expect("=");
  Expr begin = expression();
  const Position at = lexer_.expect("..").at;
  const bool relative = lexer_.accept("+");
  Expr extent = expression();
  int64_t count = 0;
  if (!relative && !begin.is(0)) {
    if (!begin.is_integer() || !extent.is_integer() ||
        __builtin_sub_overflow(extent->integer, begin->integer, &count))
      lexer_.fail_at(at, "the end of a loop is a number where it begins at another number",
                     "write `begin .. + extent`");
    extent = Expr(count);
  }
  const VarId var = define_var(counter, var_type.value_or(Type{}));
  return make_for(kind, var, std::move(extent), {}, std::move(begin));
}

Stmt Parser::let() {
  const Name defined = name("a variable");
  std::optional<Type> var_type;
  if (lexer_.accept(":")) var_type = type();
  lexer_.expect("=");
  Expr value = expression();
  const VarId var = define_var(defined, var_type.value_or(value.type()));
  return make_let(var, std::move(value));
}

Stmt Parser::alloc(int column) {
  const Name allocated = name("a buffer");
  BufferDecl decl = declaration(allocated);
  if (decl.scope <= Scope::kConstant)
    lexer_.fail_at(allocated.at, "an argument of the kernel cannot be allocated");
  const size_t outside = buffers_.size();
  const BufferId id = function_.add_buffer(std::move(decl));
  buffers_.emplace_back(allocated.key, id);
  const bool indented = !lexer_.sees(Token::Kind::kEnd) && lexer_.at().column > column;
  Block body = indented ? block(column) : block_at(column);
  buffers_.resize(outside);
  return make_alloc(id, std::move(body));
}

Parser::Access Parser::access() {
  Access result;
  lexer_.expect("[");
  result.index = expression();
  if (lexer_.accept(":")) {
    result.lanes = small_integer("the number of lanes", 1);
    if (lexer_.accept("*")) result.stride = integer("a stride");
  }
  if (lexer_.accept("if")) result.mask = expression();
  lexer_.expect("]");
  return result;
}

Stmt Parser::store() {
  const Name target = name("a statement");
  const BufferId buffer = find(buffers_, target, "buffer");
  const Position at = lexer_.at();
  Access place = access();
  lexer_.expect("=");
  Expr value = expression();
  const int lanes = place.lanes.value_or(place.index.type().lanes);
  if (lanes != value.type().lanes)
    lexer_.fail_at(at, "the value has " + std::to_string(value.type().lanes) +
                           " lanes, the place has " + std::to_string(lanes));
  return make_store(buffer, std::move(place.index), std::move(value), place.stride,
                    std::move(place.mask));
}

// Expressions that need the names in scope.
Expr Parser::element(const Name& name) {
  if (!lexer_.sees("[")) {
    const VarId id = find(vars_, name, "variable");
    return Expr::var(id, function_.vars[id.index()].type);
  }
  const BufferId buffer = find(buffers_, name, "buffer");
  const Position at = lexer_.at();
  Access place = access();
  const int lanes = place.lanes.value_or(1);
  if (place.index.type().lanes > 1 && place.lanes && lanes != place.index.type().lanes)
    lexer_.fail_at(at, "the index has another number of lanes");
  return Expr::load(function_.buffer(buffer).element, buffer, std::move(place.index), lanes,
                    place.stride, std::move(place.mask));
}

Result<Function> parse_function(std::string_view text) {
  try {
    return Parser(text).function();
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

}  // namespace hone::loop
