/* Waiting for a word to change: a short while awake, then asleep in the kernel. */
#ifndef HONE_RUNTIME_WAIT_H
#define HONE_RUNTIME_WAIT_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint32_t hone_word;

/* Sleeps while *word is `value`; may also return without reason. */
void hone_word_sleep(hone_word* word, uint32_t value);
void hone_word_wake(hone_word* word, int threads);

/* Stays awake while *word is `value`, for at most `nanoseconds`. Gives the word. */
uint32_t hone_word_spin(hone_word* word, uint32_t value, int64_t nanoseconds);

#endif
