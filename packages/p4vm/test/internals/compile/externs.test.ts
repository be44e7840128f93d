import { P4Error } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import { type Pieces, TextProgram } from './text-program.js';

const TYPES = `
header one_t { bit<4> v; bit<4> l; bit<16> sum; bit<48> mac; }
header two_t { bit<3> x; bit<13> y; int<8> z; }
header opt_t { varbit<64> data; }`;
const BASE: Pieces = {
  types: TYPES,
  headers: 'one_t one; two_t two; opt_t opt;',
  metadata: 'bit<8> a; bit<16> r; bit<32> q; bit<64> w; bool flag;',
  states: `
    state start { packet.extract(hdr.one); transition select(hdr.one.v) { 1: two; 2: opt; default: accept; } }
    state two { packet.extract(hdr.two); transition accept; }
    state opt { packet.extract(hdr.opt, (bit<32>)hdr.one.l << 3); transition accept; }`,
};
const ONE = [0x10, 0xab, 0xcd, 1, 2, 3, 4, 5, 6];

/** The bytes that a hash was asked for. */
function hashedBytes(data: string, ...packet: readonly number[]): number[] {
  let hashed: number[] = [];
  const program = new TextProgram(
    { ...BASE, ingress: `hash(meta.w, HashAlgorithm.identity, 64w0, ${data}, 64w0xffffffffffffffff);` },
    {},
    {
      hash: (_, bytes, length) => {
        hashed = [...bytes.subarray(0, length)];
        return 0n;
      },
    },
  );
  // Twice, so that nothing left over from the first packet is seen.
  program.run(...ONE, 0xff, 0xff, 0xff);
  program.run(...packet);
  return hashed;
}

describe('data of hashes', () => {
  it('are fields without gaps, zeros at the end', () => {
    expect(hashedBytes('{ hdr.one.v, hdr.one.sum, hdr.one.l }', ...ONE, 0, 0, 0)).toEqual([0x1a, 0xbc, 0xd0]);
    expect(hashedBytes('{ hdr.two.y, hdr.two.z, 1w1 }', ...ONE, 0xff, 0xfe, 0x81)).toEqual([0xff, 0xf4, 0x0c]);
    expect(hashedBytes('{ hdr.one.mac, 3w5, 72w0x010203040506070809 }', ...ONE, 0, 0, 0)).toEqual([
      1, 2, 3, 4, 5, 6, 0xa0, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe1, 0x01, 0x20,
    ]);
  });

  it('have fields of invalid headers at full width', () => {
    expect(hashedBytes('{ hdr.two.x, hdr.one.v, hdr.two.z, hdr.one.l }', 0x57, 9, 9, 9, 9, 9, 9, 9, 9)).toEqual([
      0x0a, 0x00, 0xe0,
    ]);
    expect(hashedBytes('{ hdr.one.sum, hdr.two.x, hdr.two.y, hdr.one.mac }', 0, 1, 2, 3, 4, 5, 6, 7, 8)).toEqual([
      1, 2, 0, 0, 3, 4, 5, 6, 7, 8,
    ]);
    expect(hashedBytes('{ hdr.two.x, meta.a, hdr.one.l }', 0x07, 9, 9, 9, 9, 9, 9, 9, 9)).toEqual([0x00, 0x0e]);
  });

  it('take whole headers, and as much of a varbit as there is', () => {
    expect(hashedBytes('{ hdr.opt.data, hdr.one.v }', 0x23, 9, 9, 9, 9, 9, 9, 9, 9, 0xa, 0xb, 0xc)).toEqual([
      0xa, 0xb, 0xc, 0x20,
    ]);
    expect(hashedBytes('{ hdr.opt, hdr.two }', ...ONE, 0x12, 0x34, 0x56)).toEqual([0x12, 0x34, 0x56]);
  });
});

describe('hash', () => {
  it('is base + hash % max, cut to the result, a max of 0 taken as 1', () => {
    const hash = (): bigint => 0x123456789n;
    const run = (call: string): ReturnType<TextProgram['run']> =>
      new TextProgram({ ...BASE, ingress: call }, {}, { hash }).run(...ONE, 0, 0, 0);
    expect(run('hash(meta.r, HashAlgorithm.identity, 16w10, { meta.a }, 32w0x10000);').get('meta.r')).toBe(0x6793);
    expect(run('hash(meta.r, HashAlgorithm.identity, 16w10, { meta.a }, 16w0);').get('meta.r')).toBe(10);
    expect(run('hash(meta.w, HashAlgorithm.identity, 64w1, { meta.a }, 64w0xf00000000);').get('meta.w')).toBe(
      0x12345678an,
    );
    expect(run('hash(meta.a, HashAlgorithm.identity, 8w0, { meta.a }, 32w0x1000);').get('meta.a')).toBe(0x89);
  });

  it('is the same for short algorithms, which need no bigint', () => {
    const run = (call: string): ReturnType<TextProgram['run']> =>
      new TextProgram({ ...BASE, ingress: call }).run(...ONE, 0, 0, 0);
    // 0xabcd: the ones' complement of the sum of one word.
    expect(run('hash(meta.r, HashAlgorithm.csum16, 16w0, { hdr.one.sum }, 32w65536);').get('meta.r')).toBe(0x5432);
    expect(run('hash(meta.r, HashAlgorithm.csum16, 16w0xffff, { hdr.one.sum }, 16w16);').get('meta.r')).toBe(1);
    expect(run('hash(meta.w, HashAlgorithm.csum16, 32w0xffffffff, { hdr.one.sum }, 16w16);').get('meta.w')).toBe(
      0x100000001n,
    );
    const crc = run('hash(meta.q, HashAlgorithm.crc32, 32w0, { 8w0x31, 64w0x3233343536373839 }, 64w0x100000000);');
    expect(crc.get('meta.q')).toBe(0xcbf43926);
  });
});

describe('checksums', () => {
  it('are verified and updated unless their header is invalid', () => {
    const pieces: Pieces = {
      ...BASE,
      verify: 'verify_checksum(true, { hdr.one.mac }, hdr.one.sum, HashAlgorithm.csum16);',
      ingress: 'if (hdr.one.l == 1) { hdr.one.setInvalid(); }',
      compute: 'update_checksum(hdr.one.l != 2, { hdr.one.mac, 16w1 }, hdr.one.sum, HashAlgorithm.csum16);',
    };
    const sum = 0xffff - (0x0102 + 0x0304 + 0x0506);
    const program = new TextProgram(pieces);
    const good = program.run(0, sum >> 8, sum & 255, 1, 2, 3, 4, 5, 6);
    expect(good.get('standard_metadata.checksum_error')).toBe(0);
    expect(good.get('hdr.one.sum')).toBe(sum - 1);
    const bad = program.run(2, 0, 0, 1, 2, 3, 4, 5, 6);
    expect(bad.get('standard_metadata.checksum_error')).toBe(1);
    expect(bad.get('hdr.one.sum')).toBe(0);
    expect(program.run(0).get('standard_metadata.checksum_error')).toBe(0);
  });

  it('cover the payload, an odd byte as the high one', () => {
    const program = new TextProgram({
      ...BASE,
      compute: 'update_checksum_with_payload(true, { hdr.one.mac, 8w9 }, hdr.one.sum, HashAlgorithm.csum16);',
    });
    const values = program.run(0, 0, 0, 0, 0, 0, 0, 0, 1, 7, 8, 5, 4);
    expect(values.get('hdr.one.sum')).toBe(0xffff - (0x0001 + 0x0907 + 0x0805 + 0x0400));
  });
});

describe('registers and other objects', () => {
  it('are read and written in place, and count indices out of bounds', () => {
    const program = new TextProgram({
      ...BASE,
      declarations: 'register<bit<16>>(4) cells; register<bit<64>>(2) wide; register<int<8>>(2) small;',
      ingress: `
        cells.read(meta.r, (bit<32>)hdr.one.l);
        cells.write((bit<32>)hdr.one.l, meta.r + 3);
        wide.write(1, 64w0x1122334455667788);
        wide.read(meta.w, 1);
        int<8> s;
        small.write(0, -8s5);
        small.read(s, 0);
        meta.a = (bit<8>)s;`,
    });
    program.run(2, 0, 0, 0, 0, 0, 0, 0, 0);
    const values = program.run(2, 0, 0, 0, 0, 0, 0, 0, 0);
    expect([values.get('meta.r'), values.get('meta.w'), values.get('meta.a')]).toEqual([3, 0x1122334455667788n, 251]);
    expect(program.runtime.faults.externIndex).toBe(0);
    expect(program.run(9, 0, 0, 0, 0, 0, 0, 0, 0).get('meta.r')).toBe(0);
    expect(program.runtime.faults.externIndex).toBe(2);
  });

  it('ask for random numbers between two bounds, both included', () => {
    const asked: bigint[][] = [];
    const random = (low: bigint, high: bigint): bigint => {
      asked.push([low, high]);
      return high;
    };
    const program = new TextProgram(
      { ...BASE, ingress: 'random(meta.q, 5, 9); meta.r = 77; random(meta.r, 9, 5);' },
      {},
      { random },
    );
    const values = program.run(...ONE, 0, 0, 0);
    expect([values.get('meta.q'), values.get('meta.r')]).toEqual([9, 77]);
    expect(asked).toEqual([[5n, 9n]]);
  });
});

describe('requests to the switch', () => {
  it('are kept as the last call made them, the smallest truncation', () => {
    const program = new TextProgram({
      ...BASE,
      ingress: `
        clone(CloneType.I2E, 5);
        clone_preserving_field_list(CloneType.I2E, 32w7, 3);
        resubmit_preserving_field_list(2);
        recirculate_preserving_field_list(4);
        truncate(100); truncate(60); truncate(80);
        std.egress_spec = 3; std.mcast_grp = 9;
        mark_to_drop(std);
        assert(hdr.one.v == 1); assume(hdr.one.v == 2);`,
    });
    const values = program.run(...ONE, 0, 0, 0);
    expect(program.runtime.requests).toMatchObject({
      cloneSession: 7,
      cloneFieldList: 3,
      resubmit: 2,
      recirculate: 4,
      truncate: 60,
    });
    expect(values.get('standard_metadata.egress_spec')).toBe(511);
    expect(values.get('standard_metadata.mcast_grp')).toBe(0);
    expect(program.runtime.faults.assertion).toBe(1);
  });

  it('count bits that headers gain and lose by setValid and setInvalid', () => {
    const program = new TextProgram({
      ...BASE,
      ingress: 'hdr.two.setValid(); hdr.two.setValid(); hdr.one.setInvalid(); hdr.opt.setInvalid();',
    });
    program.run(0, 0, 0, 0, 0, 0, 0, 0, 0);
    expect(program.runtime.requests.lengthChange).toBe(24 - 72);
    program.run(0x22, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2);
    expect(program.runtime.requests.lengthChange).toBe(24 - 72 - 16);
  });

  it('send digests and log messages', () => {
    const digests: unknown[] = [];
    const program = new TextProgram(
      {
        ...BASE,
        types: `${TYPES} struct learn_t { bit<48> mac; bit<9> port; int<8> z; }`,
        ingress: `
          digest<learn_t>(1, { hdr.one.mac, std.ingress_port, hdr.two.z });
          log_msg("plain");
          log_msg("mac {} z={} {}", { hdr.one.mac, hdr.two.z, hdr.one.isValid() });`,
      },
      {},
      { digest: (...given) => void digests.push(given) },
    );
    program.run(...ONE, 0, 0, 0xff);
    const fields = [
      { name: 'mac', value: 0x010203040506n },
      { name: 'port', value: 0 },
      { name: 'z', value: -1 },
    ];
    expect(digests).toEqual([[1, 'learn_t', fields]]);
    expect(program.logged).toEqual(['plain', 'mac 1108152157446 z=-1 1']);
  });

  it('refuse the functions whose data nothing carries', () => {
    const build = (): TextProgram =>
      new TextProgram({ ...BASE, ingress: 'clone3(CloneType.I2E, 5, { hdr.one.mac });' });
    expect(build).toThrow(P4Error);
    expect(build).toThrow(/clone3 with data/);
  });
});
