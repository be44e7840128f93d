/** Named values for the script. */
const MAX_FIELDS = 1000;
const MAX_NAME_BYTES = 0xffff;
const MAX_RECORD_BYTES = 1 << 18;

/**
 * Encodes named values for the script.
 * @throws RangeError for no or too many fields, or more than 256 KiB; TypeError for a value that is not a finite
 *   number, bigint or string
 */
export function encodeValues(name: string, fields: Readonly<Record<string, string | number | bigint>>): Buffer {
  const entries = Object.entries(fields);
  if (entries.length < 1 || entries.length > MAX_FIELDS) {
    throw new RangeError(`values need 1 to ${MAX_FIELDS} fields, not ${entries.length}`);
  }
  const parts: Buffer[] = [...text(name, 2, MAX_NAME_BYTES), number(entries.length, 2)];
  for (const [field, value] of entries) {
    const isValue = typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value);
    if (!isValue) throw new TypeError(`${name}: the value of '${field}' is no text and no finite number`);
    parts.push(...text(field, 2, MAX_NAME_BYTES), ...text(String(value), 4, MAX_RECORD_BYTES));
  }
  const record = Buffer.concat(parts);
  if (record.length > MAX_RECORD_BYTES) {
    throw new RangeError(`${name}: values of ${record.length} bytes; at most ${MAX_RECORD_BYTES}`);
  }
  return record;
}

function number(value: number, bytes: 2 | 4): Buffer {
  const out = Buffer.alloc(bytes);
  out.writeUIntLE(value, 0, bytes);
  return out;
}

function text(value: string, lengthBytes: 2 | 4, most: number): [length: Buffer, bytes: Buffer] {
  const bytes = Buffer.from(value);
  if (bytes.length > most) throw new RangeError(`a text of ${bytes.length} bytes; at most ${most}`);
  return [number(bytes.length, lengthBytes), bytes];
}
