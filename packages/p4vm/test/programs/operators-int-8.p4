// Every operator on int<8>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 8
#define NUMBER int<8>
#include "include/operators.p4"
