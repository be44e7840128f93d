// Every operator on int<31>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 31
#define NUMBER int<31>
#include "include/operators.p4"
