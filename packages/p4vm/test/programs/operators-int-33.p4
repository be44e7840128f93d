// Every operator on int<33>: wrap-around, saturation, the sign in shifts and comparisons.
#define WIDTH 33
#define NUMBER int<33>
#include "include/operators.p4"
