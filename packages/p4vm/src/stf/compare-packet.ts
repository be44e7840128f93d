import { hexOf } from '../trace/trace-text.js';

/**
 * Compares a packet with a pattern of upper-case hex digits and `*`. A packet may be longer than the pattern unless
 * `isExact`.
 *
 * @returns the difference in words, or undefined
 */
export function comparePacket(pattern: string | undefined, isExact: boolean, frame: Uint8Array): string | undefined {
  if (pattern === undefined) return undefined;
  const received = hexOf(frame).toUpperCase();
  if (received.length < pattern.length || (isExact && received.length > pattern.length)) {
    const least = isExact ? '' : ' or more';
    return `${pattern.length / 2} bytes${least} expected, ${frame.length} came: ${spaced(received)}`;
  }
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '*' || pattern[at] === received[at]) continue;
    const byte = at >> 1;
    return (
      `differs from byte ${byte} on\n` +
      `  expected ${spaced(pattern)}\n` +
      `  received ${spaced(received)}\n` +
      `           ${' '.repeat(3 * byte + (at & 1))}^`
    );
  }
  return undefined;
}

function spaced(digits: string): string {
  return digits.replace(/(..)(?=.)/g, '$1 ');
}
