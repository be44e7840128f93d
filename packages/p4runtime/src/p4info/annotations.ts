import { create } from '@bufbuild/protobuf';
import type { IrProgram } from '@int/p4vm';
import type { AnnotationValue, DeclaredAnnotation } from '@int/p4vm/internals';
import * as p4config from '../messages/p4config.js';
import { P4InfoError } from './p4info-error.js';

/** What P4Info says in places of their own. */
const SPOKEN_FOR: ReadonlySet<string> = /* @__PURE__ */ new Set(['name', 'id', 'brief', 'description']);

/** What annotations say about an object. */
export interface Described {
  readonly annotations: string[];
  readonly structuredAnnotations: p4config.StructuredAnnotation[];
  readonly doc?: p4config.Documentation;
}

/** The annotations of a program, by its nodes. */
export class Annotations {
  constructor(readonly program: IrProgram) {}

  /** Those of a table, a table key, an action, a variable of its parameter and so on. */
  of(node: object): readonly DeclaredAnnotation[] {
    return this.program.surface.annotations.get(node) ?? [];
  }

  /** Those of a type with a name. */
  ofType(name: string): readonly DeclaredAnnotation[] {
    return this.program.surface.declared.get(name)?.annotations ?? [];
  }

  /** Those of a field of a struct, header or union. */
  ofField(type: string, field: string): readonly DeclaredAnnotation[] {
    return this.program.surface.declared.get(type)?.fields.find(({ name }) => name === field)?.annotations ?? [];
  }

  /** Control-plane name of a field. */
  fieldName(type: string, field: string): string {
    return textOf(this.ofField(type, field), 'name') ?? field;
  }

  /**
   * Annotations and documentation as P4Info has them: unstructured ones as they are written, without those that P4Info
   * says elsewhere and those of `without`; structured ones by their values.
   */
  describe(annotations: readonly DeclaredAnnotation[], without: readonly string[] = []): Described {
    const plain = annotations.filter(({ isStructured }) => !isStructured);
    const brief = textOf(plain, 'brief');
    const description = textOf(plain, 'description');
    const isDocumented = brief !== undefined || description !== undefined;
    return {
      annotations: plain.filter(({ name }) => !SPOKEN_FOR.has(name) && !without.includes(name)).map(written),
      structuredAnnotations: annotations
        .filter((each) => each.isStructured && !without.includes(each.name))
        .map(structured),
      ...(isDocumented && {
        doc: create(p4config.DocumentationSchema, { brief: brief ?? '', description: description ?? '' }),
      }),
    };
  }
}

/** The number of an `@id(...)`. @throws P4InfoError `ERR_P4INFO_ANNOTATION` for one without a number */
export function idOf(annotations: readonly DeclaredAnnotation[]): bigint | undefined {
  return numberOf(annotations, 'id');
}

/** The number in `@name(number)`. @throws P4InfoError `ERR_P4INFO_ANNOTATION` for one without a number */
export function numberOf(annotations: readonly DeclaredAnnotation[], name: string): bigint | undefined {
  const found = annotations.find((each) => each.name === name);
  if (found === undefined) return undefined;
  const [value] = found.values;
  if (typeof value === 'bigint') return value;
  throw new P4InfoError('ERR_P4INFO_ANNOTATION', `@${name}(${found.text}) has no number`);
}

/** The text in `@name("text")`. @throws P4InfoError `ERR_P4INFO_ANNOTATION` for one without a text */
export function textOf(annotations: readonly DeclaredAnnotation[], name: string): string | undefined {
  const found = annotations.find((each) => each.name === name);
  if (found === undefined) return undefined;
  const [value] = found.values;
  if (typeof value === 'string') return value;
  throw new P4InfoError('ERR_P4INFO_ANNOTATION', `@${name}(${found.text}) has no text`);
}

function written({ name, text }: DeclaredAnnotation): string {
  return text === '' ? `@${name}` : `@${name}(${text})`;
}

function structured({ name, values, pairs }: DeclaredAnnotation): p4config.StructuredAnnotation {
  if (pairs.length > 0) {
    const kvPairs = pairs.map(({ key, value }) =>
      create(p4config.KeyValuePairSchema, { key, value: expression(value) }),
    );
    const value = create(p4config.KeyValuePairListSchema, { kvPairs });
    return create(p4config.StructuredAnnotationSchema, { name, body: { case: 'kvPairList', value } });
  }
  if (values.length === 0) return create(p4config.StructuredAnnotationSchema, { name });
  const value = create(p4config.ExpressionListSchema, { expressions: values.map(expression) });
  return create(p4config.StructuredAnnotationSchema, { name, body: { case: 'expressionList', value } });
}

function expression(value: AnnotationValue): p4config.Expression {
  if (typeof value === 'string') {
    return create(p4config.ExpressionSchema, { value: { case: 'stringValue', value } });
  }
  if (typeof value === 'boolean') return create(p4config.ExpressionSchema, { value: { case: 'boolValue', value } });
  if (BigInt.asIntN(64, value) !== value) {
    throw new P4InfoError('ERR_P4INFO_ANNOTATION', `${value} in a structured annotation has more than 64 bits`);
  }
  return create(p4config.ExpressionSchema, { value: { case: 'int64Value', value } });
}
