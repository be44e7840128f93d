import type { Code } from './code.js';
import { type AggregatePlace, memberOf, readPlace } from './places.js';
import { Routine } from './routine.js';
import type { Unit } from './unit.js';

/** Writes the method that lists all fields of valid headers and of metadata by name. */
export function writeSnapshot(unit: Unit, methods: Code, roots: readonly (readonly [string, AggregatePlace])[]): void {
  const routine = new Routine(unit, unit.program.ingress);
  routine.code.open('snapshot() {');
  routine.code.line('const map = new Map();');
  for (const [name, place] of roots) writeValues(routine, name, { ...place, isFixed: false });
  routine.code.line('return map;');
  routine.code.close('},');
  methods.append(routine.code);
}

function writeValues(routine: Routine, name: string, place: AggregatePlace): void {
  const { code, unit } = routine;
  const { type } = place;
  if (type.kind === 'varbit') {
    code.line(`map.set(${JSON.stringify(name)}, ${unit.helper('formatVarbit')}(${place.code}));`);
    return;
  }
  if (type.kind === 'stack') {
    for (let index = 0; index < type.size; index++) {
      const element = { ...place, type: type.element, code: `${place.code}.items[${index}]` };
      writeValues(routine, `${name}[${index}]`, element);
    }
    return;
  }
  if (type.kind === 'header') code.open(`if (${place.code}.$valid) {`);
  for (const field of type.fields) {
    const part = memberOf(unit, place, field.name, field.type);
    const inner = `${name}.${field.name}`;
    if (part.kind === 'aggregate') writeValues(routine, inner, part);
    else code.line(`map.set(${JSON.stringify(inner)}, ${routine.runtimeValue(readPlace(routine, part))});`);
  }
  if (type.kind === 'header') code.close();
}
