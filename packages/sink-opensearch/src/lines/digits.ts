const ZERO = 0x30;

/** Writes a number in decimal. @param value a non-negative integer below 2^53 @returns the position behind it */
export function putDecimal(bytes: Uint8Array, start: number, value: number): number {
  let end = start + 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++;
  let rest = value;
  for (let at = end - 1; at >= start; at--) {
    const next = Math.floor(rest / 10);
    bytes[at] = ZERO + (rest - 10 * next);
    rest = next;
  }
  return end;
}

/** Writes the last `digits` digits of a number, with zeros in front. @returns the position behind them */
export function putPadded(bytes: Uint8Array, start: number, value: number, digits: number): number {
  let rest = value;
  for (let at = start + digits - 1; at >= start; at--) {
    const next = Math.floor(rest / 10);
    bytes[at] = ZERO + (rest - 10 * next);
    rest = next;
  }
  return start + digits;
}
