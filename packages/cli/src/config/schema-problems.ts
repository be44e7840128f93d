/** Problems that a JSON schema finds, in words for the file's author. */
import type { ErrorObject } from 'ajv';
import type { FileProblems } from '../io.js';
import type { ConfigDocument, Problem } from './document.js';

/** Most problems located in the text; further ones are only counted. */
const MOST_EXPLAINED = 200;

interface Described {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

function keysOf({ instancePath }: ErrorObject): (string | number)[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};
const typeName = (type: string): string => TYPE_NAMES[type] ?? type;

function explain(error: ErrorObject): Problem {
  const path = keysOf(error);
  const { keyword, params, message = 'is wrong' } = error;
  const { title, properties = {} } = (error.parentSchema ?? {}) as Described;
  const wanted = title === undefined ? null : `give ${title}`;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const known = Object.keys(properties);
      const rest = known.length === 0 ? '' : `: there are ${known.join(', ')}`;
      return { path: [...path, name], atKey: true, message: `no such key, '${name}'${rest}` };
    }
    case 'required':
      return { path, message: `'${String(params.missingProperty)}' is missing` };
    case 'enum':
      return { path, message: `give one of ${(params.allowedValues as unknown[]).join(', ')}` };
    case 'const':
      return { path, message: `give ${JSON.stringify(params.allowedValue)}` };
    case 'minProperties':
    case 'maxProperties': {
      const known = Object.keys(properties).join(', ');
      return { path, message: keyword === 'minProperties' ? `give one of ${known}` : `give one of ${known}, not more` };
    }
    case 'type':
      return { path, message: wanted ?? `give ${[params.type].flat().map(typeName).join(' or ')}` };
    case 'minItems':
      return { path, message: 'give at least one' };
    case 'uniqueItems':
      return { path, message: 'the same stands here twice' };
    case 'pattern':
      return { path, message: wanted ?? `give what matches ${String(params.pattern)}` };
    default:
      return { path, message: wanted ?? message };
  }
}

/** @param errors of ajv, with `verbose` and `allErrors` */
export function schemaProblems(document: ConfigDocument, errors: readonly ErrorObject[]): FileProblems {
  return document.problems(errors.slice(0, MOST_EXPLAINED).map(explain), undefined, errors.length);
}
