/** JSON schemas, written shortly. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const number: Schema = { type: 'number' };
export const whole: Schema = { type: 'integer' };
export const flag: Schema = { type: 'boolean' };
/** Whatever it is. */
export const any: Schema = {};

export const oneOf = (...values: readonly string[]): Schema => ({ enum: values });
export const list = (items: Schema): Schema => ({ type: 'array', items });
export const maybe = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
/** Values by names that are not known before. */
export const table = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

/** An object with these members and no others; those whose names end in `?` may be missing. */
export function object(members: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(members);
  return {
    type: 'object',
    additionalProperties: false,
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
  };
}

/** An object with these members and any others. */
export const open = (members: Readonly<Record<string, Schema>>): Schema => ({
  ...object(members),
  additionalProperties: true,
});
