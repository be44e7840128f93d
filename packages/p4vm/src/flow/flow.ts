import type { Action, DataType, ExternInstance, IrProgram, ParserInstance, Table } from '../ir/program.js';
import type { Span } from '../source/position.js';
import type { Findings } from './findings.js';
import { KnownValues } from './known-values.js';
import { bitsOf } from './lookups.js';
import {
  type HeaderPlace,
  type Place,
  Places,
  partsOf,
  type ScalarPlace,
  type StackPlace,
  scalarsOf,
  weightOf,
} from './places.js';
import { type State, StateSpace, type Telling } from './state.js';

/** Where states go that leave a body before its end. */
export interface Frame {
  readonly returns: State[];
  readonly exits: State[];
}

/** Where states go that leave a loop's body. */
export interface LoopFrame {
  readonly breaks: State[];
  readonly continues: State[];
}

/** What one analysis of a program knows, wherever it is at work. */
export class Flow {
  readonly places = new Places();
  readonly known = new KnownValues();
  readonly space = new StateSpace(this.places, this.known);
  readonly headers: Place;
  readonly metadata: Place;
  readonly standard: Place;
  /** Positions of the user metadata's values. */
  readonly metadataValues: ReadonlySet<number>;
  /** 1 once the parser has taken something from the packet. */
  readonly consumed: ScalarPlace;
  /** 1 once a packet is to be cloned, or to go round again, at the end of the pipeline. */
  readonly leaves: Readonly<Record<'I2E' | 'E2E' | 'resubmit' | 'recirculate', ScalarPlace>>;
  /** Numbers of the field lists that clones and packets that go round take along; undefined: all metadata. */
  readonly lists = new Map<keyof Flow['leaves'], Set<number> | undefined>();
  readonly noError: bigint;
  /** The part of the switch at work. */
  part: 'ingress' | 'egress' | undefined;
  /** Where the function at work puts what it returns. */
  result: Place | undefined;
  frame: Frame = { returns: [], exits: [] };
  loops: LoopFrame[] = [];
  /** Where headers were made valid last. */
  readonly madeValid = new Map<HeaderPlace, Span>();
  /** What functions have returned, by their ids. */
  readonly results = new Map<number, Place>();
  /** Packets that the parser has given up. */
  rejected: State[] = [];
  readonly applied = new Set<Table>();
  readonly parsers = new Set<ParserInstance>();
  /** Actions that are called by controls themselves, with where. */
  readonly calledByControls = new Map<Action, Span>();
  isInAction = false;
  readonly metersRead = new Set<ExternInstance>();

  constructor(
    readonly program: IrProgram,
    readonly findings: Findings,
  ) {
    const { places } = this;
    this.headers = places.make(program.headers, 'hdr', false);
    this.metadata = places.make(program.metadata, 'meta', false);
    this.standard = places.make(program.standardMetadata, 'standard_metadata', false);
    this.metadataValues = new Set(scalarsOf(this.metadata).map(({ id }) => id));
    this.consumed = places.scalar('consumed');
    this.leaves = {
      I2E: places.scalar('I2E'),
      E2E: places.scalar('E2E'),
      resubmit: places.scalar('resubmit'),
      recirculate: places.scalar('recirculate'),
    };
    this.noError = BigInt(Math.max(0, program.errors.indexOf('NoError')));
    const telling = (place: ScalarPlace): Telling => ({
      weight: weightOf(place.id),
      of: (state) => state.value(place),
    });
    for (const name of ['parser_error', 'instance_type', 'egress_spec']) {
      const place = this.standardField(name);
      if (place !== undefined) this.space.telling.push(telling(place));
    }
    const stacks = stacksOf(this.headers).filter(({ elements }) => elements.length <= SMALL_STACK);
    this.space.flags.push(...stacks.map(({ next }) => telling(next)));
    this.space.flags.push(...flagsOf(program.metadata, this.metadata).map(telling));
  }

  standardField(name: string): ScalarPlace | undefined {
    const place = this.standard.kind === 'struct' ? this.standard.fields.get(name) : undefined;
    return place?.kind === 'scalar' ? place : undefined;
  }

  /** Whether the packet of a state ended before the parser did. */
  isCut(state: State): boolean {
    const place = this.standardField('parser_error');
    return place !== undefined && !this.known.has(state.value(place), this.noError);
  }
}

/** Elements of a stack that is looked at one by one while it is extracted. */
const SMALL_STACK = 16;

function stacksOf(place: Place): readonly StackPlace[] {
  if (place.kind === 'stack') return [place];
  return place.kind === 'struct' ? partsOf(place).flatMap(stacksOf) : [];
}

/** Bits of values that are told apart. */
const FLAG_BITS = 1;

/** Values of few bits, and of enumerations: what programs note of a packet to ask for it later. */
function flagsOf(type: DataType, place: Place): readonly ScalarPlace[] {
  if (place.kind === 'scalar') return type.kind === 'enum' || (bitsOf(type) ?? 32) <= FLAG_BITS ? [place] : [];
  if (type.kind !== 'struct' || place.kind !== 'struct') return [];
  return type.fields.flatMap((field) => {
    const inner = place.fields.get(field.name);
    return inner === undefined ? [] : flagsOf(field.type, inner);
  });
}
