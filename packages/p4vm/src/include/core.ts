import type { SourceFile } from '../source/position.js';

/** The core library, as the P4_16 specification 1.2.5 declares it ("P4 core library"). */
export const coreFile: SourceFile = {
  name: 'core.p4',
  text: `// The core library of P4_16: what every architecture builds upon.
#ifndef _CORE_P4_
#define _CORE_P4_

/// Errors of parsers.
error {
  NoError,
  PacketTooShort,         // extract or lookahead beyond the end of the packet
  NoMatch,                // no case of a select matches
  StackOutOfBounds,       // .next or .last outside of a header stack
  HeaderTooShort,         // extract of more bits than a varbit field holds
  ParserTimeout,
  ParserInvalidArgument   // an extract that is no whole number of bytes, where the target wants one
}

/// The packet a parser reads.
extern packet_in {
  /// Reads a header without varbit fields, and moves on.
  void extract<T>(out T hdr);
  /// Reads a header whose one varbit field has that many bits.
  void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
  /// Reads without moving on.
  T lookahead<T>();
  /// Moves on without reading.
  void advance(in bit<32> sizeInBits);
  /// Bytes of the packet; not every target knows it.
  bit<32> length();
}

/// The packet a deparser writes.
extern packet_out {
  /// Appends a header if it is valid, or all that are of a stack, struct or union.
  void emit<T>(in T hdr);
}

/// Goes to reject with an error if the check is false.
extern void verify(in bool check, in error toSignal);

@noWarn("unused")
action NoAction() {}

match_kind {
  exact,
  ternary,
  lpm
}

/// Checked when the program is compiled.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
`,
};
