/** A value of type varbit: `bits` (a multiple of 8) significant bits in the first bytes of `bytes`, most significant first. */
export class Varbit {
  bits = 0;
  readonly bytes: Uint8Array;

  /** `maxWidth` in bits. */
  constructor(maxWidth: number) {
    this.bytes = new Uint8Array((maxWidth + 7) >>> 3);
  }
}

/** Copies a value, and cuts off bytes that do not fit. */
export function copyVarbit(into: Varbit, from: Varbit): void {
  const { bytes } = from;
  const length = Math.min((from.bits + 7) >>> 3, into.bytes.length);
  for (let at = 0; at < length; at++) into.bytes[at] = bytes[at]!;
  into.bits = Math.min(from.bits, into.bytes.length * 8);
}

/** Whether two values have the same length and the same bits. */
export function equalVarbits(left: Varbit, right: Varbit): boolean {
  if (left.bits !== right.bits) return false;
  const length = (left.bits + 7) >>> 3;
  for (let at = 0; at < length; at++) if (left.bytes[at] !== right.bytes[at]) return false;
  return true;
}

/** Takes `bits` bits (whole bytes) from `bytes`, beginning at bit `phase` (0 to 7) of byte `at`. */
export function loadVarbit(into: Varbit, bytes: Uint8Array, at: number, phase: number, bits: number): void {
  const length = bits >>> 3;
  if (phase === 0) for (let i = 0; i < length; i++) into.bytes[i] = bytes[at + i]!;
  else {
    for (let i = 0; i < length; i++) into.bytes[i] = (bytes[at + i]! << phase) | (bytes[at + i + 1]! >>> (8 - phase));
  }
  into.bits = bits;
}

/**
 * Writes a value into `bytes` from bit `phase` (0 to 7) of byte `at`. Bits before it stay; the bits after it in the
 * last byte become 0.
 */
export function storeVarbit(from: Varbit, bytes: Uint8Array, at: number, phase: number): void {
  const length = from.bits >>> 3;
  if (phase === 0) for (let i = 0; i < length; i++) bytes[at + i] = from.bytes[i]!;
  else {
    for (let i = 0; i < length; i++) {
      const byte = from.bytes[i]!;
      bytes[at + i] = (bytes[at + i]! & (0xff00 >>> phase)) | (byte >>> phase);
      bytes[at + i + 1] = byte << (8 - phase);
    }
  }
}

/** Hexadecimal digits of a value, for traces. */
export function formatVarbit(value: Varbit): string {
  let text = '0x';
  for (let at = 0; at < (value.bits + 7) >>> 3; at++) text += value.bytes[at]!.toString(16).padStart(2, '0');
  return text;
}
