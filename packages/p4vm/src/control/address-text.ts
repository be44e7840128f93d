/** An IPv4 address in dotted decimal, as a number; undefined if the text is not one. */
export function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

/**
 * A MAC address: six hexadecimal numbers of one or two digits, separated by colons; undefined if the text is not one.
 */
export function parseMac(text: string): bigint | undefined {
  const parts = text.split(':');
  if (parts.length !== 6) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^[0-9a-f]{1,2}$/i.test(part)) return undefined;
    value = (value << 8n) | BigInt(`0x${part}`);
  }
  return value;
}

/** An IPv6 address (RFC 4291 section 2.2, with `::` and a dotted IPv4 end); undefined if the text is not one. */
export function parseIpv6(text: string): bigint | undefined {
  let groups = text;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (dotted !== null) {
    const last = parseIpv4(dotted[2]!);
    if (last === undefined) return undefined;
    groups = `${dotted[1]}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`;
  }
  const halves = groups.split('::');
  if (halves.length > 2) return undefined;
  const read = (half: string): bigint[] | undefined => {
    if (half === '') return [];
    const parts = half.split(':');
    return parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part)) ? parts.map((part) => BigInt(`0x${part}`)) : undefined;
  };
  const left = read(halves[0]!);
  const right = halves.length === 2 ? read(halves[1]!) : [];
  if (left === undefined || right === undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = [...left, ...new Array<bigint>(missing).fill(0n), ...right];
  return all.reduce((value, group) => (value << 16n) | group, 0n);
}

/** A whole number as programs write it: decimal, or with 0x, 0o, 0b before it; `_` between digits; a sign. */
export function parseInteger(text: string): bigint | undefined {
  const match =
    /^([+-]?)(0x_?[0-9a-f]+(?:_[0-9a-f]+)*|0o_?[0-7]+(?:_[0-7]+)*|0b_?[01]+(?:_[01]+)*|\d+(?:_\d+)*)$/i.exec(text);
  if (match === null) return undefined;
  const value = BigInt(match[2]!.toLowerCase().replaceAll('_', ''));
  return match[1] === '-' ? -value : value;
}
