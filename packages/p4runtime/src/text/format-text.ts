import { type DescField, type DescMessage, type MessageShape, type Registry, ScalarType } from '@bufbuild/protobuf';
import { type ReflectList, type ReflectMap, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { type Any, AnySchema, anyUnpack } from '@bufbuild/protobuf/wkt';
import { writtenBytes } from './strings.js';

/**
 * Writes a message in the protobuf text format, a field per line, in the order of their numbers; fields without a value are
 * left out. `parseText` and other readers of the format give the message back.
 *
 * @param options `registry`: types whose values within an Any are written out
 */
export function formatText<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  options: { readonly registry?: Registry } = {},
): string {
  const lines: string[] = [];
  writeMessage(reflect(schema, message), '', lines, options.registry);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function writeMessage(message: ReflectMessage, indent: string, lines: string[], registry: Registry | undefined): void {
  if (message.desc.typeName === AnySchema.typeName && registry !== undefined) {
    const any = message.message as Any;
    const inner = anyUnpack(any, registry);
    const desc = inner === undefined ? undefined : registry.getMessage(inner.$typeName);
    if (inner !== undefined && desc !== undefined) {
      writeNested(`[${any.typeUrl}]`, reflect(desc, inner), indent, lines, registry);
      return;
    }
  }
  for (const field of message.sortedFields) {
    if (!message.isSet(field)) continue;
    const values = field.fieldKind === 'list' ? (message.get(field) as ReflectList) : [message.get(field)];
    if (field.fieldKind === 'map') writeMap(field, message.get(field) as ReflectMap, indent, lines, registry);
    else for (const value of values) writeValue(field, field.name, value, indent, lines, registry);
  }
}

function writeNested(
  name: string,
  message: ReflectMessage,
  indent: string,
  lines: string[],
  registry: Registry | undefined,
): void {
  lines.push(`${indent}${name} {`);
  writeMessage(message, `${indent}  `, lines, registry);
  lines.push(`${indent}}`);
}

function writeValue(
  field: DescField & { fieldKind: 'list' | 'message' | 'scalar' | 'enum' },
  name: string,
  value: unknown,
  indent: string,
  lines: string[],
  registry: Registry | undefined,
): void {
  if (field.message !== undefined) writeNested(name, value as ReflectMessage, indent, lines, registry);
  else if (field.enum !== undefined) {
    const member = field.enum.value[value as number];
    lines.push(`${indent}${name}: ${member?.name ?? String(value)}`);
  } else lines.push(`${indent}${name}: ${writtenScalar(field.scalar!, value)}`);
}

function writeMap(
  field: DescField & { fieldKind: 'map' },
  map: ReflectMap,
  indent: string,
  lines: string[],
  registry: Registry | undefined,
): void {
  const entries = [...map].sort(([left], [right]) => (String(left) < String(right) ? -1 : 1));
  const inner = `${indent}  `;
  for (const [key, value] of entries) {
    lines.push(`${indent}${field.name} {`, `${inner}key: ${writtenScalar(field.mapKey, key)}`);
    if (field.mapKind === 'message') writeNested('value', value as ReflectMessage, inner, lines, registry);
    else if (field.mapKind === 'enum') {
      lines.push(`${inner}value: ${field.enum.value[value as number]?.name ?? String(value)}`);
    } else lines.push(`${inner}value: ${writtenScalar(field.scalar, value)}`);
    lines.push(`${indent}}`);
  }
}

const encoder = /* @__PURE__ */ new TextEncoder();

function writtenScalar(type: ScalarType, value: unknown): string {
  switch (type) {
    case ScalarType.STRING:
      return writtenBytes(encoder.encode(value as string));
    case ScalarType.BYTES:
      return writtenBytes(value as Uint8Array);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      if (Number.isNaN(value)) return 'nan';
      if (!Number.isFinite(value)) return value === Number.POSITIVE_INFINITY ? 'inf' : '-inf';
      return Object.is(value, -0) ? '-0' : String(value);
    default:
      return String(value);
  }
}
