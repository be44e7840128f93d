const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4vm.StfSyntaxError') as never;

/** A match of `add`: a key by name and the text of its value. */
export interface StfMatch {
  readonly key: string;
  readonly value: string;
  /** The prefix length, after `/`. */
  readonly prefix?: string | undefined;
  /** The upper end of a range, after `->`. */
  readonly high?: string | undefined;
  /** The mask, after `&&&`. */
  readonly mask?: string | undefined;
}

/** An action with its arguments by name. */
export interface StfCall {
  readonly action: string;
  readonly arguments: readonly { readonly name: string; readonly value: string }[];
}

export type StfComparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** One statement of a packet test. `line` counts from 1. */
export type StfStatement = { readonly line: number } & (
  | { readonly kind: 'packet'; readonly port: number; readonly frame: Uint8Array }
  /** `pattern`: hex digits in upper case, `*` for any; undefined: any packet. */
  | {
      readonly kind: 'expect';
      readonly port: number;
      readonly pattern: string | undefined;
      /** The packet must not be longer than the pattern. */
      readonly isExact: boolean;
    }
  /** No port has sent a packet since the last input. */
  | { readonly kind: 'no-packet' }
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'add';
      readonly table: string;
      readonly priority: number | undefined;
      readonly matches: readonly StfMatch[];
      readonly call: StfCall;
      /** A name for the entry, after `=`. */
      readonly id: string | undefined;
    }
  | { readonly kind: 'setdefault'; readonly table: string; readonly call: StfCall }
  | { readonly kind: 'remove-all' }
  | {
      readonly kind: 'check-counter';
      readonly counter: string;
      /** An index, or `$ID` of an entry. */
      readonly index: string;
      readonly unit: 'packets' | 'bytes';
      readonly comparison: StfComparison;
      readonly value: bigint | undefined;
    }
  | {
      readonly kind: 'check-register';
      readonly register: string;
      readonly index: string;
      readonly comparison: StfComparison;
      readonly value: bigint;
    }
  /** A command of simple_switch_CLI, passed on as it is. */
  | { readonly kind: 'command'; readonly text: string }
);

/** A syntax error in a test's text. */
export class StfSyntaxError extends Error {
  override readonly name = 'StfSyntaxError';
  readonly code = 'ERR_STF_SYNTAX';

  constructor(
    message: string,
    /** From 1. */
    readonly line: number,
  ) {
    super(`line ${line}: ${message}`);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is StfSyntaxError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
