const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Bytes of base64 text with its padding. Not every JavaScript engine has `atob`. */
export function decodeBase64(text: string): Uint8Array {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let at = 0, out = 0; at < text.length; at += 4, out += 3) {
    let bits = 0;
    for (let k = at; k < at + 4; k++) bits = (bits << 6) | Math.max(0, ALPHABET.indexOf(text[k]!));
    bytes[out] = bits >>> 16;
    bytes[out + 1] = bits >>> 8;
    bytes[out + 2] = bits;
  }
  return bytes;
}
