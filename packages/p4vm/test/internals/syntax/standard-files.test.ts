import { describe, expect, it } from 'vitest';
import type { Declaration } from '../../../src/syntax/ast.js';
import { parseWell } from './parsing.js';
import { printDeclaration, printType } from './program-printer.js';

function declarations(version?: string): readonly Declaration[] {
  const setup = version === undefined ? {} : { defines: { V1MODEL_VERSION: version } };
  return parseWell('#include <v1model.p4>\n', setup).declarations;
}

/** Declarations of a name, without line ends. */
function shown(name: string, version?: string): string[] {
  return declarations(version)
    .filter((declaration) => declaration.name.text === name)
    .map((declaration) => printDeclaration(declaration).replace(/\s+/g, ' '));
}

describe('core.p4', () => {
  it('declares the errors, the packets and what every program may use', () => {
    expect(shown('error')).toEqual([
      'error { NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument }',
    ]);
    expect(shown('packet_in')).toEqual([
      'extern packet_in { void extract<T>(out T hdr); ' +
        'void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits); T lookahead<T>(); ' +
        'void advance(in bit<32> sizeInBits); bit<32> length(); }',
    ]);
    expect(shown('packet_out')).toEqual(['extern packet_out { void emit<T>(in T hdr); }']);
    expect(shown('verify')).toEqual(['extern void verify(in bool check, in error toSignal);']);
    expect(shown('NoAction')).toEqual(['@noWarn("unused") action NoAction() { }']);
    expect(shown('match_kind')).toEqual([
      'match_kind { exact, ternary, lpm }',
      'match_kind { range, optional, selector }',
    ]);
    expect(shown('static_assert')).toEqual([
      'extern bool static_assert(bool check, string message);',
      'extern bool static_assert(bool check);',
    ]);
  });
});

describe('v1model.p4', () => {
  it('has indices of 32 bits before version 20200408, and of any type since', () => {
    expect(shown('__v1model_version')).toEqual(['const bit<32> __v1model_version = 20180101;']);
    expect(shown('counter')).toEqual([
      'extern counter { counter(bit<32> size, CounterType type); void count(in bit<32> index); }',
    ]);
    expect(shown('counter', '20200408')).toEqual([
      'extern counter<I> { counter(bit<32> size, CounterType type); void count(in I index); }',
    ]);
    expect(shown('meter', '20200408')).toEqual([
      'extern meter<I> { meter(bit<32> size, MeterType type); void execute_meter<T>(in I index, out T result); }',
    ]);
    expect(shown('register')).toEqual([
      'extern register<T> { register(bit<32> size); @noSideEffects void read(out T result, in bit<32> index); ' +
        'void write(in bit<32> index, in T value); }',
    ]);
    expect(shown('register', '20200408')).toEqual([
      'extern register<T, I> { register(bit<32> size); @noSideEffects void read(out T result, in I index); ' +
        'void write(in I index, in T value); }',
    ]);
  });

  it('has the metadata of the switch, in order', () => {
    const fields = (version?: string): string[] => {
      const struct = declarations(version).find((declaration) => declaration.name.text === 'standard_metadata_t');
      return struct?.kind === 'struct'
        ? struct.fields.map((field) => `${printType(field.type)} ${field.name.text}`)
        : [];
    };
    expect(fields()).toEqual([
      'bit<9> ingress_port',
      'bit<9> egress_spec',
      'bit<9> egress_port',
      'bit<32> instance_type',
      'bit<32> packet_length',
      'bit<32> enq_timestamp',
      'bit<19> enq_qdepth',
      'bit<32> deq_timedelta',
      'bit<19> deq_qdepth',
      'bit<48> ingress_global_timestamp',
      'bit<48> egress_global_timestamp',
      'bit<16> mcast_grp',
      'bit<16> egress_rid',
      'bit<1> checksum_error',
      'error parser_error',
      'bit<3> priority',
    ]);
    expect(fields('20200408').slice(0, 3)).toEqual([
      'PortId_t ingress_port',
      'PortId_t egress_spec',
      'PortId_t egress_port',
    ]);
  });

  it('has all functions and objects', () => {
    const externs = declarations().filter((declaration) => declaration.kind === 'extern');
    expect(
      externs
        .filter((declaration) => declaration.isFunction)
        .map((declaration) => declaration.name.text)
        .sort(),
    ).toEqual([
      'assert',
      'assume',
      'clone',
      'clone3',
      'clone_preserving_field_list',
      'digest',
      'hash',
      'log_msg',
      'log_msg',
      'mark_to_drop',
      'mark_to_drop',
      'random',
      'recirculate',
      'recirculate_preserving_field_list',
      'resubmit',
      'resubmit_preserving_field_list',
      'static_assert',
      'static_assert',
      'truncate',
      'update_checksum',
      'update_checksum_with_payload',
      'verify',
      'verify_checksum',
      'verify_checksum_with_payload',
    ]);
    expect(
      externs
        .filter((declaration) => !declaration.isFunction)
        .map((declaration) => declaration.name.text)
        .sort(),
    ).toEqual([
      'Checksum16',
      'action_profile',
      'action_selector',
      'counter',
      'direct_counter',
      'direct_meter',
      'meter',
      'packet_in',
      'packet_out',
      'register',
    ]);
    expect(shown('V1Switch')).toEqual([
      'package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> vr, Ingress<H, M> ig, Egress<H, M> eg, ' +
        'ComputeChecksum<H, M> ck, Deparser<H> dep);',
    ]);
  });
});
