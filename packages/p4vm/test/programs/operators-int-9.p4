// Every operator on int<9>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 9
#define NUMBER int<9>
#include "include/operators.p4"
