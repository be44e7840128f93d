import type { DataType, StructDataType, Variable } from '../ir/program.js';

/** A value that is written as a whole. `id` is its position in a state's `written` and `values`. */
export interface ScalarPlace {
  readonly kind: 'scalar';
  readonly id: number;
  readonly name: string;
}

export interface HeaderPlace {
  readonly kind: 'header';
  /** The place of its validity in a state. */
  readonly validity: ScalarPlace;
  /** The contribution of its validity to the key of a state: 0 for elements of stacks. */
  readonly weight: number;
  readonly name: string;
  readonly fields: ReadonlyMap<string, Place>;
  /** All values in it. */
  readonly scalars: readonly ScalarPlace[];
  /** The other members of its union. */
  readonly rivals: HeaderPlace[];
}

interface StructPlace {
  readonly kind: 'struct' | 'union';
  readonly name: string;
  readonly fields: ReadonlyMap<string, Place>;
}

export interface StackPlace {
  readonly kind: 'stack';
  readonly name: string;
  readonly elements: readonly Place[];
  /** The index of `next`, kept like a value of the program. */
  readonly next: ScalarPlace;
}

/** The place of a value, with the places in it. */
export type Place = ScalarPlace | HeaderPlace | StructPlace | StackPlace;

/** Most places of a program that is analysed. Programs that people write have fewer. */
const MAX_PLACES = 65_536;

/** Ends an analysis that would take too long, or too much memory. */
export class TooMuch extends Error {}

/** A pseudo-random number. Sums of such numbers are equal, almost surely, only for equal summands. */
export function weightOf(id: number): number {
  let hash = (id + 1) * 0x9e3779b1;
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The places of a program's variables, made on first use. */
export class Places {
  /** Headers by the ids of their validity. */
  readonly headers = new Map<number, HeaderPlace>();
  /** Headers that are not elements of a stack. */
  readonly alone: HeaderPlace[] = [];
  scalars = 0;
  readonly #own = new Map<number, Place>();
  readonly #bound = new Map<number, Place>();

  /** Makes a value for the analysis itself. */
  scalar(name: string): ScalarPlace {
    if (this.scalars >= MAX_PLACES) throw new TooMuch();
    return { kind: 'scalar', id: this.scalars++, name };
  }

  of(variable: Variable): Place {
    return this.#bound.get(variable.id) ?? this.own(variable);
  }

  /** A variable's own place, even if the variable is bound to another now. */
  own(variable: Variable): Place {
    let place = this.#own.get(variable.id);
    if (place === undefined) {
      place = this.make(variable.type, variable.name, false);
      this.#own.set(variable.id, place);
    }
    return place;
  }

  /** Binds a parameter to a place of the caller; to its own place, if none is given. */
  bind(variable: Variable, place: Place | undefined): void {
    if (place === undefined) this.#bound.delete(variable.id);
    else this.#bound.set(variable.id, place);
  }

  make(type: DataType, name: string, inStack: boolean): Place {
    switch (type.kind) {
      case 'header':
        return this.#header(type, name, inStack);
      case 'struct':
        return { kind: 'struct', name, fields: this.#fields(type, name, inStack) };
      case 'union': {
        const fields = this.#fields(type, name, inStack);
        const members = [...fields.values()].filter((each): each is HeaderPlace => each.kind === 'header');
        for (const each of members) each.rivals.push(...members.filter((other) => other !== each));
        return { kind: 'union', name, fields };
      }
      case 'stack': {
        if (this.scalars + type.size >= MAX_PLACES) throw new TooMuch();
        const next = this.scalar(name);
        const elements = Array.from({ length: type.size }, (_, i) => this.make(type.element, `${name}[${i}]`, true));
        return { kind: 'stack', name, elements, next };
      }
      default:
        return this.scalar(name);
    }
  }

  #fields(type: StructDataType, name: string, inStack: boolean): Map<string, Place> {
    return new Map(type.fields.map((field) => [field.name, this.make(field.type, `${name}.${field.name}`, inStack)]));
  }

  #header(type: StructDataType, name: string, inStack: boolean): HeaderPlace {
    const fields = this.#fields(type, name, inStack);
    const scalars = [...fields.values()].flatMap(scalarsOf);
    const validity = this.scalar(name);
    const weight = inStack ? 0 : weightOf(validity.id);
    const header: HeaderPlace = { kind: 'header', validity, weight, name, fields, scalars, rivals: [] };
    this.headers.set(validity.id, header);
    if (!inStack) this.alone.push(header);
    return header;
  }
}

/** The places directly in a place. */
export function partsOf(place: Place): readonly Place[] {
  switch (place.kind) {
    case 'scalar':
      return [];
    case 'stack':
      return place.elements;
    default:
      return [...place.fields.values()];
  }
}

/** All values in a place, those of headers too. */
export function scalarsOf(place: Place): readonly ScalarPlace[] {
  if (place.kind === 'scalar') return [place];
  return place.kind === 'header' ? place.scalars : partsOf(place).flatMap(scalarsOf);
}

/** All headers in a place. */
export function headersOf(place: Place): readonly HeaderPlace[] {
  if (place.kind === 'scalar') return [];
  return place.kind === 'header' ? [place] : partsOf(place).flatMap(headersOf);
}
