import type {
  AnnotationValue,
  ControlSurface,
  DeclaredAnnotation,
  DeclaredField,
  DeclaredType,
} from '../ir/control-surface.js';
import type { ExternInstance, Table } from '../ir/program.js';
import type { Annotation, Declaration, StructDeclaration } from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import { AnnotationValues } from './annotation-values.js';
import type { Lowering } from './lowering.js';

/** Notes of the stage about annotations and types as written, while nodes are made. */
export class SurfaceNotes {
  readonly annotations = new Map<object, readonly Annotation[]>();
  readonly types = new Map<object, Type>();
  readonly typeArguments = new Map<ExternInstance, readonly Type[]>();
  readonly sizes = new Map<Table, number>();
  readonly digests = new Map<string, Type>();
}

/** The control surface of the program, at the end of the stage. */
export function controlSurface(lowering: Lowering): ControlSurface {
  const { notes, checked } = lowering;
  const values = new AnnotationValues(lowering);
  const made = new Map<readonly Annotation[], readonly DeclaredAnnotation[]>();
  const declaredOf = (annotations: readonly Annotation[]): readonly DeclaredAnnotation[] => {
    let declared = made.get(annotations);
    if (declared === undefined) {
      declared = annotations.map((each) => annotationOf(lowering, values, each));
      made.set(annotations, declared);
    }
    return declared;
  };
  const declared = new Map<string, DeclaredType>();
  const controllerHeaders: string[] = [];
  for (const each of checked.program.declarations) {
    const type = declaredType(each);
    if (type === undefined) continue;
    const fields = 'fields' in type ? fieldsOf(lowering, type, declaredOf) : [];
    declared.set(type.name.text, { annotations: declaredOf(type.annotations), fields });
    const isController = type.annotations.some(({ name }) => name === 'controller_header');
    if (type.kind === 'header' && isController) controllerHeaders.push(type.name.text);
  }
  return {
    annotations: new Map([...notes.annotations].map(([node, annotations]) => [node, declaredOf(annotations)])),
    types: notes.types,
    typeArguments: notes.typeArguments,
    sizes: notes.sizes,
    digests: [...notes.digests].map(([name, type]) => ({ name, type })),
    declared,
    controllerHeaders,
    program: declaredOf(checked.main.annotations),
  };
}

/** The declaration of a type with a name; undefined for other declarations. */
function declaredType(each: Declaration) {
  switch (each.kind) {
    case 'struct':
    case 'header':
    case 'union':
    case 'enum':
      return each;
    case 'typedef':
      // A type that is declared within a typedef has its own name.
      return each.type.kind === 'declared-type' ? each.type.declaration : each;
    default:
      return undefined;
  }
}

function fieldsOf(
  lowering: Lowering,
  { fields, typeParameters }: StructDeclaration,
  declaredOf: (annotations: readonly Annotation[]) => readonly DeclaredAnnotation[],
): DeclaredField[] {
  return fields.map(({ name, type, annotations, span }) => {
    lowering.spend(1 + annotations.length, span);
    return {
      name: name.text,
      type: typeParameters.length === 0 ? lowering.checked.typeNodes.get(type) : undefined,
      annotations: declaredOf(annotations),
    };
  });
}

function annotationOf(lowering: Lowering, values: AnnotationValues, annotation: Annotation): DeclaredAnnotation {
  const { name, text, isStructured, pairs, span } = annotation;
  lowering.spend(1 + annotation.values.length + pairs.size, span);
  const known = annotation.values.map((each) => values.value(each)).filter(isKnown);
  const entries = [...pairs].map(([key, each]) => ({ key, value: values.value(each) }));
  const knownPairs = entries.flatMap(({ key, value }) => (isKnown(value) ? [{ key, value }] : []));
  if (isStructured && (known.length < annotation.values.length || knownPairs.length < pairs.size)) {
    lowering.diagnostics.warning(
      'target',
      'unknown-annotation-value',
      span,
      `a value of @${name}[...] is not known at compile time; control planes do not see it`,
    );
  }
  return { name, text: text.trim(), isStructured, values: known, pairs: knownPairs };
}

function isKnown(value: AnnotationValue | undefined): value is AnnotationValue {
  return value !== undefined;
}
