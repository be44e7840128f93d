/**
 * Validates against the keywords of JSON Schema draft-07 that the schema of rules uses, and refuses a schema that uses
 * others. Written for tests.
 */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

const ANNOTATIONS: readonly string[] = [
  '$schema',
  'title',
  'description',
  'default',
  'examples',
  'definitions',
  'then',
];

type Check = (argument: never, value: unknown, schema: Readonly<Record<string, unknown>>, root: JsonSchema) => boolean;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function hasType(type: string, value: unknown): boolean {
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  return typeof value === type;
}

const CHECKS: Readonly<Record<string, Check>> = {
  $ref: (reference: string, value, _schema, root) => {
    const name = /^#\/definitions\/(\w+)$/.exec(reference)?.[1] ?? '';
    const definitions = isObject(root) ? root.definitions : undefined;
    if (!isObject(definitions) || !Object.hasOwn(definitions, name)) throw new Error(`no definition ${reference}`);
    return validates(definitions[name] as JsonSchema, value, root);
  },
  type: (type: string, value) => hasType(type, value),
  const: (wanted: unknown, value) => wanted === value,
  enum: (wanted: readonly unknown[], value) => wanted.includes(value),
  anyOf: (options: readonly JsonSchema[], value, _schema, root) =>
    options.some((option) => validates(option, value, root)),
  oneOf: (options: readonly JsonSchema[], value, _schema, root) =>
    options.filter((option) => validates(option, value, root)).length === 1,
  allOf: (options: readonly JsonSchema[], value, _schema, root) =>
    options.every((option) => validates(option, value, root)),
  if: (condition: JsonSchema, value, schema, root) =>
    !validates(condition, value, root) || validates(schema.then as JsonSchema, value, root),
  pattern: (pattern: string, value) => typeof value !== 'string' || new RegExp(pattern, 'u').test(value),
  minLength: (least: number, value) => typeof value !== 'string' || [...value].length >= least,
  maxLength: (most: number, value) => typeof value !== 'string' || [...value].length <= most,
  minimum: (least: number, value) => typeof value !== 'number' || value >= least,
  maximum: (most: number, value) => typeof value !== 'number' || value <= most,
  exclusiveMinimum: (below: number, value) => typeof value !== 'number' || value > below,
  minProperties: (least: number, value) => !isObject(value) || Object.keys(value).length >= least,
  maxProperties: (most: number, value) => !isObject(value) || Object.keys(value).length <= most,
  required: (keys: readonly string[], value) => !isObject(value) || keys.every((key) => Object.hasOwn(value, key)),
  properties: (properties: Readonly<Record<string, JsonSchema>>, value, _schema, root) =>
    !isObject(value) ||
    Object.entries(properties).every(
      ([key, schema]) => !Object.hasOwn(value, key) || validates(schema, value[key], root),
    ),
  additionalProperties: (rest: JsonSchema, value, schema, root) =>
    !isObject(value) ||
    Object.entries(value).every(([key, each]) => {
      const known = isObject(schema.properties) && Object.hasOwn(schema.properties, key);
      return known || validates(rest, each, root);
    }),
  propertyNames: (names: JsonSchema, value, _schema, root) =>
    !isObject(value) || Object.keys(value).every((key) => validates(names, key, root)),
  items: (items: JsonSchema, value, _schema, root) =>
    !Array.isArray(value) || value.every((item) => validates(items, item, root)),
};

/** Whether a value is as a schema says. */
export function validates(schema: JsonSchema, value: unknown, root: JsonSchema = schema): boolean {
  if (typeof schema === 'boolean') return schema;
  return Object.entries(schema).every(([keyword, argument]) => {
    if (ANNOTATIONS.includes(keyword)) return true;
    const check = Object.hasOwn(CHECKS, keyword) ? CHECKS[keyword] : undefined;
    if (check === undefined) throw new Error(`the validator does not know ${keyword}`);
    return check(argument as never, value, schema, root);
  });
}
