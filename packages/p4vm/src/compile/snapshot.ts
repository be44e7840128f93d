import type { Code } from './code.js';
import { plainWord } from './names.js';
import { type AggregatePlace, memberOf, readPlace } from './places.js';
import { Routine } from './routine.js';
import type { Unit } from './unit.js';

/** Writes the method that lists all fields of valid headers and of metadata by name. */
export function writeSnapshot(unit: Unit, methods: Code, roots: readonly (readonly [string, AggregatePlace])[]): void {
  const routine = new Routine(unit, unit.program.ingress);
  routine.code.open('snapshot() {');
  routine.code.line('const map = new Map();');
  for (const [name, place] of roots) writeValues(routine, name, place);
  routine.code.line('return map;');
  routine.code.close('},');
  methods.append(routine.code);
}

/** `name` is the inside of a template literal, `depth` how many stacks it is in. */
function writeValues(routine: Routine, name: string, place: AggregatePlace, depth = 0): void {
  const { code, unit } = routine;
  const { type } = place;
  if (type.kind === 'varbit') {
    code.line(`map.set(\`${name}\`, ${unit.helper('formatVarbit')}(${place.code}));`);
    return;
  }
  if (type.kind === 'stack') {
    const at = `i${depth}`;
    code.open(`for (let ${at} = 0; ${at} < ${type.size}; ${at}++) {`);
    const element = { ...place, type: type.element, code: `${place.code}.items[${at}]` };
    writeValues(routine, `${name}[\${${at}}]`, element, depth + 1);
    code.close();
    return;
  }
  if (type.kind === 'header') code.open(`if (${place.code}.$valid) {`);
  for (const field of type.fields) {
    const part = memberOf(unit, place, field.name, field.type);
    const inner = `${name}.${plainWord(field.name)}`;
    if (part.kind === 'aggregate') writeValues(routine, inner, part, depth);
    else code.line(`map.set(\`${inner}\`, ${routine.runtimeValue(readPlace(routine, part))});`);
  }
  if (type.kind === 'header') code.close();
}
