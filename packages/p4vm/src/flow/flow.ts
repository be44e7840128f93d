import type { Action, DataType, ExternInstance, IrProgram, ParserInstance, Table } from '../ir/program.js';
import type { Span } from '../source/position.js';
import type { Findings, WarningKind } from './findings.js';
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
import { type FlowLimits, NO, type State, StateSpace, type Telling, YES } from './state.js';

/** Collects the states that leave a body before its end. */
export interface Frame {
  readonly returns: State[];
  readonly exits: State[];
}

/** Collects the states that leave a loop's body. */
export interface LoopFrame {
  readonly breaks: State[];
  readonly continues: State[];
}

/** The data of one analysis of a program. */
export class Flow {
  readonly places = new Places();
  readonly known = new KnownValues();
  readonly space: StateSpace;
  readonly headers: Place;
  readonly metadata: Place;
  readonly standard: Place;
  /** Positions of the user metadata's values. */
  readonly metadataValues: ReadonlySet<number>;
  /** 1 once the parser has taken bits from the packet. */
  readonly consumed: ScalarPlace;
  /** 1 once a packet will be cloned, resubmitted or recirculated at the end of the pipeline. */
  readonly leaves: Readonly<Record<'I2E' | 'E2E' | 'resubmit' | 'recirculate', ScalarPlace>>;
  /** Numbers of the field lists that clones, resubmitted and recirculated packets keep; undefined: all metadata. */
  readonly lists = new Map<keyof Flow['leaves'], Set<number> | undefined>();
  readonly noError: bigint;
  /** The current part of the switch. */
  part: 'ingress' | 'egress' | undefined;
  /** The place for the current function's result. */
  result: Place | undefined;
  frame: Frame = { returns: [], exits: [] };
  loops: LoopFrame[] = [];
  /** Positions at which headers last became valid. */
  readonly madeValid = new Map<HeaderPlace, Span>();
  /** Results of functions, by function id. */
  readonly results = new Map<number, Place>();
  /** States of packets that the parser rejected. */
  rejected: State[] = [];
  readonly applied = new Set<Table>();
  readonly parsers = new Set<ParserInstance>();
  /** Actions that controls call directly, with the positions of the calls. */
  readonly calledByControls = new Map<Action, Span>();
  isInAction = false;
  readonly metersRead = new Set<ExternInstance>();

  constructor(
    readonly program: IrProgram,
    readonly findings: Findings,
    limits: FlowLimits,
  ) {
    const { places } = this;
    this.space = new StateSpace(places, this.known, limits);
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

  setStandard(state: State, name: string, value: bigint): void {
    const place = this.standardField(name);
    if (place !== undefined) state.set(place, YES, this.known.one(value));
  }

  /** Notes what a state knows of something that should be written or valid. */
  note(kind: WarningKind, span: Span, name: string, is: number, state: State): void {
    this.findings.note(kind, span, name, { right: is !== NO, wrong: is !== YES, isCut: this.isCut(state) });
  }

  /** Whether a state's packet ended before the parser did. */
  isCut(state: State): boolean {
    const place = this.standardField('parser_error');
    return place !== undefined && !this.known.has(state.value(place), this.noError);
  }
}

/** Largest stack whose elements are tracked one by one while it is extracted. */
const SMALL_STACK = 16;

function stacksOf(place: Place): readonly StackPlace[] {
  if (place.kind === 'stack') return [place];
  return place.kind === 'struct' ? partsOf(place).flatMap(stacksOf) : [];
}

/** Most bits of a value whose values get separate states. */
const FLAG_BITS = 1;

/** Values of few bits, and of enumerations: programs use them as flags. */
function flagsOf(type: DataType, place: Place): readonly ScalarPlace[] {
  if (place.kind === 'scalar') return type.kind === 'enum' || (bitsOf(type) ?? 32) <= FLAG_BITS ? [place] : [];
  if (type.kind !== 'struct' || place.kind !== 'struct') return [];
  return type.fields.flatMap((field) => {
    const inner = place.fields.get(field.name);
    return inner === undefined ? [] : flagsOf(field.type, inner);
  });
}
