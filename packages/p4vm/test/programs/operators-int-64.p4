// Every operator on int<64>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 64
#define NUMBER int<64>
#include "include/operators.p4"
