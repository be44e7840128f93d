// Every operator on int<128>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 128
#define NUMBER int<128>
#include "include/operators.p4"
