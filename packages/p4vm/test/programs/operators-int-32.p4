// Every operator on int<32>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 32
#define NUMBER int<32>
#include "include/operators.p4"
