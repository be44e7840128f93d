import { ANY, type KnownValues } from './known-values.js';
import { type HeaderPlace, headersOf, type Place, partsOf, type ScalarPlace } from './places.js';
import { MAYBE, NO, type State, YES } from './state.js';

/** Copies a state's knowledge of a place: three numbers per value, and one before them per header. */
export function capture(state: State, place: Place, into: number[] = []): number[] {
  if (place.kind === 'scalar') into.push(state.isWritten(place), state.value(place));
  else {
    if (place.kind === 'header') into.push(state.validity(place));
    if (place.kind === 'stack') into.push(state.value(place.next));
    for (const part of partsOf(place)) capture(state, part, into);
  }
  return into;
}

/** Restores the captured knowledge of a place of the same type. */
export function restore(state: State, place: Place, from: readonly number[]): void {
  let at = 0;
  const put = (each: Place): void => {
    if (each.kind === 'scalar') {
      state.set(each, from[at] ?? MAYBE, from[at + 1] ?? ANY);
      at += 2;
      return;
    }
    if (each.kind === 'header') state.setValidity(each, from[at++] ?? MAYBE);
    if (each.kind === 'stack') state.set(each.next, YES, from[at++] ?? ANY);
    partsOf(each).forEach(put);
  };
  put(place);
}

function forEachPart(place: Place, scalar: (each: ScalarPlace) => void, header: (each: HeaderPlace) => void): void {
  if (place.kind === 'scalar') {
    scalar(place);
    return;
  }
  if (place.kind === 'header') header(place);
  for (const part of partsOf(place)) forEachPart(part, scalar, header);
}

/** Makes a place unwritten; its headers become invalid. */
export function clear(state: State, place: Place, known: KnownValues): void {
  if (place.kind === 'stack') state.set(place.next, YES, known.one(0n));
  if (place.kind === 'scalar') state.set(place, NO);
  else {
    if (place.kind === 'header') state.setValidity(place, NO);
    for (const part of partsOf(place)) clear(state, part, known);
  }
}

/** Sets a place to the default value of its type: zeros and invalid headers. */
export function setDefault(state: State, place: Place, known: KnownValues): void {
  clear(state, place, known);
  forEachPart(
    place,
    (each) => state.set(each, YES, known.one(0n)),
    () => {},
  );
}

/** Marks everything in a place as written with unknown values; its headers become valid. */
export function setWritten(state: State, place: Place): void {
  forEachPart(
    place,
    (each) => state.set(each, YES),
    (each) => setValid(state, each),
  );
}

/** As `setWritten`, of the one of several places that is written. */
export function setWrittenAt(state: State, places: readonly Place[]): void {
  if (places.length === 1) setWritten(state, places[0]!);
  else setPerhapsWritten(state, places);
}

/** Notes a write to one of several places, without knowing which. */
export function setPerhapsWritten(state: State, places: readonly Place[]): void {
  for (const place of places) {
    forEachPart(
      place,
      (each) => state.set(each, state.isWritten(each) === NO ? MAYBE : state.isWritten(each)),
      (each) => {
        if (state.validity(each) === NO) state.setValidity(each, MAYBE);
      },
    );
  }
}

/** Makes a header valid whose fields are or will be written. The other members of its union become invalid. */
export function setValid(state: State, header: HeaderPlace): void {
  state.setValidity(header, YES);
  for (const rival of header.rivals) state.setValidity(rival, NO);
}

/** `setValid()`: the fields of a previously invalid header have no values. */
export function makeValid(state: State, header: HeaderPlace): void {
  const before = state.validity(header);
  setValid(state, header);
  if (before === YES) return;
  for (const each of header.scalars) {
    state.set(each, before === NO ? NO : state.isWritten(each) === NO ? NO : MAYBE, ANY);
  }
}

export function makeInvalid(state: State, place: Place): void {
  for (const header of headersOf(place)) state.setValidity(header, NO);
}
