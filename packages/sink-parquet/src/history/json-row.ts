import {
  DuckDBMapValue,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api';

const SAFE = 9_007_199_254_740_991n;

/**
 * A value as JSON has it: 64-bit and longer signed numbers are numbers up to 2^53 and texts beyond, UBIGINT, which
 * timestamps of devices are, always a text; times are texts; maps are objects.
 */
export const jsonRow: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (value === null) return null;
  if (typeof value === 'bigint') {
    if (type.typeId === DuckDBTypeId.UBIGINT) return String(value);
    return value >= -SAFE && value <= SAFE ? Number(value) : String(value);
  }
  if (value instanceof DuckDBMapValue && type.typeId === DuckDBTypeId.MAP && 'valueType' in type) {
    const { valueType } = type;
    return Object.fromEntries(
      value.entries.map(({ key, value: each }) => [String(key), converter(each, valueType, converter)]),
    );
  }
  return JsonDuckDBValueConverter(value, type, converter);
};
