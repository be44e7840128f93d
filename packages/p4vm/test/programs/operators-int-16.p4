// Every operator on int<16>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 16
#define NUMBER int<16>
#include "include/operators.p4"
