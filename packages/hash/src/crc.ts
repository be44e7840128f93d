import { rangeEnd } from './arguments.js';
import { CRC_32, type CrcParameters } from './crc-presets.js';
import { advance12, advance13, advanceBytes, advanceWord, buildTables, reverseBits } from './crc-tables.js';
import { checkRows, type FlowColumns } from './flow-columns.js';
import { swapBytes } from './words.js';

/**
 * One CRC with its tables (13 KiB, built once). Make it with {@link createCrc}. It is immutable, so one instance serves
 * any number of messages at the same time. It allocates nothing after its construction.
 *
 * All results are unsigned numbers of `parameters.width` bits. For a message in several pieces, {@link Crc.update} and
 * {@link Crc.updateWord} continue from the CRC of the previous pieces.
 */
export class Crc {
  /** The parameters it was made with. */
  readonly parameters: CrcParameters;
  /** The CRC of no bytes, from which the first {@link Crc.update} continues. */
  readonly empty: number;
  readonly #tables: Int32Array;
  readonly #initial: number;
  readonly #reflected: boolean;
  readonly #mirrored: boolean;
  readonly #shift: number;
  readonly #xorOut: number;

  /** @internal Use {@link createCrc}, which checks the parameters. */
  constructor(parameters: CrcParameters) {
    const { width, init, reflectIn, reflectOut, xorOut } = parameters;
    this.parameters = { ...parameters };
    this.#tables = buildTables(parameters);
    this.#initial = reflectIn ? swapBytes(reverseBits(init, width)) : init << (32 - width);
    this.#reflected = reflectIn;
    this.#mirrored = reflectIn !== reflectOut;
    this.#shift = 32 - width;
    this.#xorOut = xorOut | 0;
    this.empty = this.#finish(this.#initial);
  }

  /**
   * The CRC of a run of bytes.
   *
   * @param bytes the message, or a buffer that contains it
   * @param offset its first byte; 0 if absent
   * @param length its length in bytes; up to the end of `bytes` if absent
   * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it
   */
  digest(bytes: Uint8Array, offset = 0, length?: number): number {
    const end = rangeEnd(bytes, offset, length);
    return this.#finish(advanceBytes(this.#tables, this.#initial, bytes, offset, end));
  }

  /**
   * The CRC of a message continued by a run of bytes: `update(digest(a), b)` is the CRC of a followed by b.
   *
   * @param crc the CRC of all previous bytes; {@link Crc.empty} at the start
   * @param bytes the next bytes, or a buffer that contains them
   * @param offset its first byte; 0 if absent
   * @param length its length in bytes; up to the end of `bytes` if absent
   * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it
   */
  update(crc: number, bytes: Uint8Array, offset = 0, length?: number): number {
    const end = rangeEnd(bytes, offset, length);
    return this.#finish(advanceBytes(this.#tables, this.#resume(crc), bytes, offset, end));
  }

  /**
   * The CRC of a message continued by one big-endian 32-bit word, such as the switch id after a flow key.
   *
   * @param crc the CRC of all previous bytes
   * @param word the word; taken modulo 2^32
   */
  updateWord(crc: number, word: number): number {
    return this.#finish(advanceWord(this.#tables, this.#resume(crc) ^ word));
  }

  /**
   * The CRC of a 13-byte IPv4 flow key, from its words; equal to {@link Crc.digest} of the key that `writeFlowKeyIpv4`
   * writes. Arguments are taken modulo the width of their field, so words may be signed or unsigned.
   *
   * @param source source address
   * @param destination destination address
   * @param protocol IP protocol number
   * @param ports source port in bits 31..16, destination port in bits 15..0
   */
  flowIpv4(source: number, destination: number, protocol: number, ports: number): number {
    return this.#finish(advance13(this.#tables, this.#initial ^ source, destination | 0, protocol, ports | 0));
  }

  /**
   * The CRC of a 37-byte IPv6 flow key, from its words; equal to {@link Crc.digest} of the key that `writeFlowKeyIpv6`
   * writes. Arguments are taken modulo the width of their field.
   *
   * @param source0 bits 127..96 of the source address; `source1` to `source3` follow
   * @param destination0 bits 127..96 of the destination address; `destination1` to `destination3` follow
   * @param protocol IP protocol number
   * @param ports source port in bits 31..16, destination port in bits 15..0
   */
  flowIpv6(
    source0: number,
    source1: number,
    source2: number,
    source3: number,
    destination0: number,
    destination1: number,
    destination2: number,
    destination3: number,
    protocol: number,
    ports: number,
  ): number {
    const tables = this.#tables;
    const head = advance12(tables, this.#initial ^ source0, source1 | 0, source2 | 0);
    const middle = advance12(tables, head ^ source3, destination0 | 0, destination1 | 0);
    return this.#finish(advance13(tables, middle ^ destination2, destination3 | 0, protocol, ports | 0));
  }

  /**
   * The CRCs of the flow keys in a range of rows: `out[i]` becomes the CRC of row i, for i from `from` to `to - 1`.
   *
   * @param columns the keys; IPv4 and IPv6 rows may be mixed
   * @param from first row
   * @param to one past the last row
   * @param out receives each result at the index of its row
   * @throws RangeError if the rows are not inside the columns and `out`
   */
  flowColumns(columns: FlowColumns, from: number, to: number, out: Uint32Array): void {
    checkRows(columns, from, to, out);
    const tables = this.#tables;
    const initial = this.#initial;
    const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = columns;
    const { ports, protocol, flags, ipv6Mask } = columns;
    const reflected = this.#reflected;
    const shift = this.#shift;
    const xorOut = this.#xorOut;
    // `| 0` where a word is passed on: V8 boxes an unsigned word above 2^31 - 1 when it does not inline the call.
    for (let row = from; row < to; row++) {
      let first = initial ^ source0[row]!;
      let second = destination0[row]!;
      if ((flags[row]! & ipv6Mask) !== 0) {
        const head = advance12(tables, first, source1[row]! | 0, source2[row]! | 0);
        first = advance12(tables, head ^ source3[row]!, second | 0, destination1[row]! | 0) ^ destination2[row]!;
        second = destination3[row]!;
      }
      const last = advance13(tables, first, second | 0, protocol[row]!, ports[row]! | 0);
      const value = reflected
        ? (((last << 8) | (last >>> 24)) & 0x00ff00ff) | (((last >>> 8) | (last << 24)) & 0xff00ff00)
        : last >>> shift;
      out[row] = value ^ xorOut;
    }
    if (this.#mirrored) {
      // Rare (no 32-bit CRC in use is like this), so not in the loop above.
      for (let row = from; row < to; row++) {
        out[row] = reverseBits(out[row]! ^ xorOut, this.parameters.width) ^ xorOut;
      }
    }
  }

  /** Turns a register into a result. */
  #finish(register: number): number {
    let value = this.#reflected ? swapBytes(register) : register >>> this.#shift;
    if (this.#mirrored) {
      value = reverseBits(value, this.parameters.width);
    }
    return (value ^ this.#xorOut) >>> 0;
  }

  /** The inverse of #finish: turns a result into a register. */
  #resume(crc: number): number {
    let value = crc ^ this.#xorOut;
    if (this.#mirrored) {
      value = reverseBits(value, this.parameters.width);
    }
    return this.#reflected ? swapBytes(value) : value << this.#shift;
  }
}

function checkField(name: string, value: number, width: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value < 2 ** width)) {
    throw new RangeError(`${name} must be a whole number of ${width} bits, not ${value}`);
  }
}

/**
 * Makes a CRC with any parameters. These may be one of the presets, or a preset with another polynomial, as when
 * v1model's `crc32_custom` is set at run time: `createCrc({ ...CRC_32, polynomial: 0x1edc6f41 })`. Keep the result:
 * each call builds 13 KiB of tables.
 *
 * @param parameters see {@link CrcParameters}
 * @throws RangeError if a number is out of its range; TypeError if a reflection is not a boolean
 */
export function createCrc(parameters: CrcParameters): Crc {
  const { width, polynomial, init, reflectIn, reflectOut, xorOut } = parameters;
  if (!(Number.isInteger(width) && width >= 1 && width <= 32)) {
    throw new RangeError(`width must be a whole number from 1 to 32, not ${width}`);
  }
  checkField('polynomial', polynomial, width);
  checkField('init', init, width);
  checkField('xorOut', xorOut, width);
  if (typeof reflectIn !== 'boolean' || typeof reflectOut !== 'boolean') {
    throw new TypeError('reflectIn and reflectOut must be booleans');
  }
  return new Crc(parameters);
}

let standard: Crc | undefined;

/** CRC-32 for {@link crc32} and the flow key functions; made at the first call, not while the package is loaded. */
export function standardCrc32(): Crc {
  standard ??= new Crc(CRC_32);
  return standard;
}

/**
 * CRC-32 as Ethernet, zlib and v1model's `crc32` compute it ({@link CRC_32}); the same arguments give the same number
 * as `crc32` of node:zlib. Check value for "123456789": 0xcbf43926.
 *
 * The RoCEv2 iCRC is this CRC over eight bytes of 0xff and the masked packet. Start it from 0x2144df1c, the CRC of
 * those eight bytes. The iCRC is sent with its least significant byte first.
 *
 * @param bytes the message, or a buffer that contains it
 * @param offset its first byte; 0 if absent
 * @param length its length in bytes; up to the end of `bytes` if absent
 * @param crc the CRC of the previous bytes, to continue from; 0, the CRC of no bytes, if absent
 * @returns the CRC, unsigned
 * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it
 */
export function crc32(bytes: Uint8Array, offset = 0, length?: number, crc = 0): number {
  return standardCrc32().update(crc, bytes, offset, length);
}
