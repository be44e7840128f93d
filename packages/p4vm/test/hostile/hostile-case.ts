import type { Limits } from '@int/p4vm';

/** A program, or what is given to one, that wants more than it may have. */
export interface HostileCase {
  readonly name: string;
  /** Made when it is its turn: some are large. */
  readonly text: () => string;
  /** Files to include, by path. */
  readonly files?: () => Readonly<Record<string, string>>;
  /** Commands of simple_switch_CLI once it runs. */
  readonly commands?: () => string;
  /** A packet test, instead of packets. */
  readonly stf?: () => string;
  /** Less than the default, where reaching that takes long. */
  readonly limits?: Partial<Limits>;
  /** Packets that are sent if it runs, of 64 bytes each. Default: 1. */
  readonly packets?: number;
  /**
   * How it ends: the code of its first error; `result` if it ran and its packets were sent or dropped as it says;
   * `dropped: REASON` if a limit ended a packet; `refused: CODE` if a command was refused.
   */
  readonly ends: string;
}

/** `count` pieces, one after the other. */
export function times(count: number, piece: (index: number) => string, separator = '\n'): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join(separator);
}

export interface Parts {
  /** At top level. */
  readonly top?: string;
  /** Fields of the headers, beside `h_t h`. */
  readonly headers?: string;
  /** Fields of the metadata. */
  readonly metadata?: string;
  /** Body of the state `start`, up to its transition. */
  readonly start?: string;
  /** What follows the body of `start`. */
  readonly transition?: string;
  /** Locals of the parser. */
  readonly parserLocals?: string;
  /** Locals of ingress. */
  readonly locals?: string;
  readonly apply?: string;
  readonly egressLocals?: string;
  readonly egress?: string;
  readonly deparser?: string;
}

/** A program for v1model around some parts. */
export function v1model(parts: Parts): string {
  const {
    top = '',
    headers = '',
    metadata = '',
    start = 'p.extract(hdr.h);',
    transition = 'transition accept; }',
  } = parts;
  const {
    parserLocals = '',
    locals = '',
    apply = '',
    egressLocals = '',
    egress = '',
    deparser = 'p.emit(hdr.h);',
  } = parts;
  return `#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
${top}
struct headers { h_t h; ${headers} }
struct meta_t { bit<32> seen; ${metadata} }
parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t s) {
  ${parserLocals}
  state start { ${start} ${transition}
}
control V(inout headers hdr, inout meta_t m) { apply { } }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t s) {
  ${locals}
  apply { s.egress_spec = 1; ${apply} }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t s) { ${egressLocals} apply { ${egress} } }
control C(inout headers hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers hdr) { apply { ${deparser} } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;
}
