import { formatText, P4InfoError, p4config, p4infoOf } from '@int/p4runtime';
import { P4InfoIndex } from '@int/p4runtime/internals';
import { buildProgram } from '@int/p4vm';
import { describe, expect, it } from 'vitest';

/** A program with parts in its ingress control, types before it and annotations of its package. */
function program({ types = '', locals = '', apply = '', pkg = '' }): string {
  return `#include <core.p4>
#include <v1model.p4>
${types}
header h_t { bit<8> a; bit<48> mac; bit<16> kind; }
struct headers { h_t h; }
struct meta { bit<8> x; }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }
control V(inout headers hdr, inout meta m) { apply {} }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
${locals}
  apply { ${apply} }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply {} }
control C(inout headers hdr, inout meta m) { apply {} }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
${pkg}
V1Switch(P(), V(), I(), E(), C(), D()) main;`;
}

function infoOf(parts: Parameters<typeof program>[0]): p4config.P4Info {
  const built = buildProgram({ name: 'test.p4', text: program(parts) });
  expect(built.diagnostics.list.map(({ message }) => message)).toEqual([]);
  return p4infoOf(built.program!);
}

const written = (info: p4config.P4Info): string => formatText(p4config.P4InfoSchema, info);

describe('p4infoOf', () => {
  it('gives ids as the reference compiler does', () => {
    // Ids of the compiler's own test programs, and of the header types of published switch programs.
    const info = infoOf({
      types: `@controller_header("packet_in") header packet_in_header_t { bit<9> ingress_port; bit<7> _pad; }
@controller_header("packet_out") header packet_out_header_t { bit<9> egress_port; bit<7> _pad; }`,
      locals: `@name(".ingress.test1") table t { key = { hdr.h.a : ternary; } actions = { NoAction; } }`,
      apply: 't.apply();',
    });
    expect(info.tables[0]?.preamble?.id).toBe(36_962_230);
    expect(info.actions[0]?.preamble?.id).toBe(21_257_015);
    expect(info.controllerPacketMetadata.map(({ preamble }) => [preamble?.name, preamble?.id])).toEqual([
      ['packet_in', 81_826_293],
      ['packet_out', 76_689_799],
    ]);
  });

  it('describes tables, actions and what annotations say', () => {
    const info = infoOf({
      locals: `
  direct_counter(CounterType.packets_and_bytes) hits;
  direct_meter<bit<8>>(MeterType.bytes) rate;
  @brief("Sends") @description("Sends to a port.") @id(7) @mine("x", 1) @yours[1 + 2, "b", true] @pairs[k = 1]
  action send(@id(5) bit<9> port, bit<16> kind) { s.egress_spec = port; hdr.h.kind = kind; rate.read(m.x); }
  action other() {}
  table t {
    key = { hdr.h.mac : lpm @brief("The address") @id(9); hdr.h.a : ternary; hdr.h.kind : range; m.x : optional; s.ingress_port : exact; }
    actions = { @tableonly send; other; @defaultonly NoAction; }
    const default_action = NoAction;
    counters = hits;
    meters = rate;
    support_timeout = true;
    size = 77;
  }`,
      apply: 't.apply();',
    });
    const send = info.actions.find(({ preamble }) => preamble?.name === 'I.send');
    expect(send?.preamble).toMatchObject({
      id: 0x01000007,
      alias: 'send',
      annotations: ['@mine("x", 1)'],
      doc: { brief: 'Sends', description: 'Sends to a port.' },
      structuredAnnotations: [
        {
          name: 'yours',
          body: {
            case: 'expressionList',
            value: {
              expressions: [
                { value: { case: 'int64Value', value: 3n } },
                { value: { case: 'stringValue', value: 'b' } },
                { value: { case: 'boolValue', value: true } },
              ],
            },
          },
        },
        { name: 'pairs', body: { case: 'kvPairList', value: { kvPairs: [{ key: 'k' }] } } },
      ],
    });
    expect(send?.params.map(({ id, name, bitwidth }) => [id, name, bitwidth])).toEqual([
      [5, 'port', 9],
      [2, 'kind', 16],
    ]);
    const [table] = info.tables;
    expect(table?.matchFields.map(({ id, name, bitwidth, match }) => [id, name, bitwidth, match.value])).toEqual([
      [9, 'hdr.h.mac', 48, p4config.MatchField_MatchType.LPM],
      [2, 'hdr.h.a', 8, p4config.MatchField_MatchType.TERNARY],
      [3, 'hdr.h.kind', 16, p4config.MatchField_MatchType.RANGE],
      [4, 'm.x', 8, p4config.MatchField_MatchType.OPTIONAL],
      [5, 's.ingress_port', 9, p4config.MatchField_MatchType.EXACT],
    ]);
    expect(table?.matchFields[0]?.doc?.brief).toBe('The address');
    expect(table?.actionRefs.map(({ scope }) => scope)).toEqual([1, 0, 2]);
    expect(table).toMatchObject({
      size: 77n,
      constDefaultActionId: 21_257_015,
      initialDefaultAction: { actionId: 21_257_015 },
      idleTimeoutBehavior: p4config.Table_IdleTimeoutBehavior.NOTIFY_CONTROL,
      directResourceIds: [info.directCounters[0]?.preamble?.id, info.directMeters[0]?.preamble?.id],
    });
    expect(info.directCounters[0]).toMatchObject({ spec: { unit: 3 }, directTableId: table?.preamble?.id });
    expect(info.directMeters[0]).toMatchObject({ spec: { unit: 1 }, directTableId: table?.preamble?.id });
  });

  it('describes types that have names', () => {
    const info = infoOf({
      types: `
@p4runtime_translation("com.example/port", 32) type bit<9> port_t;
@p4runtime_translation("com.example/name", string) type bit<16> name_t;
type bit<48> mac_t;
enum bit<8> kind_t { A = 1, B = 200 }
enum plain_t { X, Y }
struct inner_t { mac_t mac; kind_t kind; }
struct digest_t { inner_t inner; bool b; error e; plain_t p; }`,
      locals: `
  register<port_t>(4) ports;
  counter(8, CounterType.bytes) c;
  action a(port_t port, name_t name, mac_t mac, kind_t kind, bool b) { digest(1, (digest_t){ inner = { mac, kind }, b = b, e = error.NoError, p = plain_t.X }); }
  table t { key = { (kind_t)hdr.h.a : exact @name("kind"); } actions = { a; } }`,
      apply: 't.apply(); c.count(0); ports.write(0, (port_t)(bit<9>)1);',
    });
    expect(
      info.actions
        .find(({ preamble }) => preamble?.alias === 'a')
        ?.params.map((each) => [each.bitwidth, each.typeName?.name]),
    ).toEqual([
      [32, 'port_t'],
      [0, 'name_t'],
      [48, 'mac_t'],
      [8, undefined],
      [1, undefined],
    ]);
    const { typeInfo } = info;
    expect(typeInfo?.newTypes.port_t?.representation).toMatchObject({
      case: 'translatedType',
      value: { uri: 'com.example/port', sdnType: { case: 'sdnBitwidth', value: 32 } },
    });
    expect(typeInfo?.newTypes.name_t?.representation).toMatchObject({ value: { sdnType: { case: 'sdnString' } } });
    expect(typeInfo?.newTypes.mac_t?.representation).toMatchObject({ case: 'originalType' });
    expect(typeInfo?.serializableEnums.kind_t).toMatchObject({
      underlyingType: { bitwidth: 8 },
      members: [
        { name: 'A', value: Uint8Array.of(1) },
        { name: 'B', value: Uint8Array.of(200) },
      ],
    });
    expect(typeInfo?.enums.plain_t?.members.map(({ name }) => name)).toEqual(['X', 'Y']);
    expect(typeInfo?.structs.digest_t?.members.map(({ name, typeSpec }) => [name, typeSpec?.typeSpec.case])).toEqual([
      ['inner', 'struct'],
      ['b', 'bool'],
      ['e', 'error'],
      ['p', 'enum'],
    ]);
    expect(typeInfo?.error?.members).toContain('PacketTooShort');
    expect(info.digests[0]).toMatchObject({
      preamble: { name: 'digest_t' },
      typeSpec: { typeSpec: { case: 'struct' } },
    });
    expect(info.registers[0]).toMatchObject({ size: 4, typeSpec: { typeSpec: { case: 'newType' } } });
    expect(info.counters[0]).toMatchObject({ size: 8n, spec: { unit: 1 } });
  });

  it('describes the package, profiles, and headers of packets to and from the controller', () => {
    const info = infoOf({
      types: `@controller_header("packet_in") @brief("Up") header up_t { @id(4) bit<9> port; @padding bit<7> pad; @hidden bit<8> none; }`,
      locals: `
  @max_group_size(16) @selector_size_semantics("sum_of_members") @max_member_weight(3)
  action_selector(HashAlgorithm.crc16, 64, 10) choice;
  action a() {}
  @hidden table gone { key = { hdr.h.a : exact; } actions = { a; } }
  table t { key = { hdr.h.a : exact; hdr.h.kind : selector; } actions = { a; } implementation = choice; }`,
      apply: 't.apply(); gone.apply();',
      pkg: '@pkginfo(name="test", version="2") @pkginfo[name="test.p4", organization="us"] @brief("All") @platform_property[multicast_group_table_size=10]',
    });
    expect(info.tables.map(({ preamble }) => preamble?.name)).toEqual(['I.t']);
    expect(info.actionProfiles[0]).toMatchObject({
      withSelector: true,
      size: 64n,
      maxGroupSize: 16,
      tableIds: [info.tables[0]?.preamble?.id],
      selectorSizeSemantics: { case: 'sumOfMembers', value: { maxMemberWeight: 3 } },
    });
    expect(info.tables[0]?.matchFields.map(({ name }) => name)).toEqual(['hdr.h.a']);
    const [up] = info.controllerPacketMetadata;
    expect(up?.preamble).toMatchObject({ name: 'packet_in', alias: 'packet_in', doc: { brief: 'Up' } });
    expect(up?.metadata.map(({ id, name, bitwidth, annotations }) => [id, name, bitwidth, annotations])).toEqual([
      [4, 'port', 9, []],
      [2, 'pad', 7, ['@padding']],
    ]);
    expect(info.pkgInfo).toMatchObject({
      arch: 'v1model',
      doc: { brief: 'All' },
      platformProperties: { multicastGroupTableSize: 10 },
    });
  });

  it.each([
    ['ERR_P4INFO_ID_PREFIX', '@id(0x03000001) action a() {}'],
    ['ERR_P4INFO_ID_TWICE', '@id(1) action a() {} @id(1) action b() {}'],
    ['ERR_P4INFO_ID_RANGE', '@id(0) action a() {}'],
    ['ERR_P4INFO_ID_TWICE', 'action a(@id(1) bit<8> x, @id(1) bit<8> y) {}'],
    ['ERR_P4INFO_ANNOTATION', '@id("one") action a() {}'],
    ['ERR_P4INFO_ANNOTATION', '@brief(1) action a() {}'],
  ])('refuses with %s: %s', (code, actions) => {
    const b = actions.includes('b()') ? 'b;' : '';
    const locals = `${actions} table t { key = { hdr.h.a : exact; } actions = { a; ${b} } }`;
    const built = buildProgram({ name: 'test.p4', text: program({ locals, apply: 't.apply();' }) });
    expect(() => p4infoOf(built.program!)).toThrow(expect.objectContaining({ code }) as Error);
    expect(() => p4infoOf(built.program!)).toThrow(expect.toSatisfy(P4InfoError.is) as Error);
  });

  it('is the same whatever else is in the program, where @id says so', () => {
    const table = '@id(0x02000010) table t { key = { hdr.h.a : exact; } actions = { NoAction; } }';
    const ids = ['', 'table before { key = { hdr.h.a : exact; } actions = { NoAction; } }'].map((before) => {
      const info = infoOf({ locals: `${before} ${table}`, apply: `t.apply(); ${before && 'before.apply();'}` });
      return info.tables.find(({ preamble }) => preamble?.name === 'I.t')?.preamble?.id;
    });
    expect(ids).toEqual([0x02000010, 0x02000010]);
    expect(written(infoOf({ locals: table, apply: 't.apply();' }))).toBe(
      written(infoOf({ locals: table, apply: 't.apply();' })),
    );
  });

  it('is found by name, alias, suffix and id', () => {
    const locals = `action a() {} table t { key = { hdr.h.a : exact; } actions = { a; } }`;
    const index = new P4InfoIndex(infoOf({ locals, apply: 't.apply();' }));
    for (const name of ['I.t', 't']) expect(index.named('table', name).preamble?.name).toBe('I.t');
    expect(index.find('table', index.named('table', 't').preamble!.id)?.preamble?.name).toBe('I.t');
    expect(() => index.named('action', 't')).toThrow(/there is no action t/);
    expect(index.nameOf('action', 5)).toBe('0x00000005');
  });
});
