import { lineColumn } from '../source/position.js';
import type { Expression, TableKey } from '../syntax/ast.js';
import type { Checker } from './checker.js';
import { annotation } from './parameters.js';

function literal(c: Checker, e: Expression): string | undefined {
  const value = c.found.constants.get(e);
  return value?.kind === 'integer' ? value.value.toString() : undefined;
}

/** A number in the base in which it is written, without leading zeros and underscores, in lower case. */
function written(e: Expression): string | undefined {
  if (e.kind !== 'integer') return undefined;
  const text = e.span.file.text.slice(e.span.start, e.span.end);
  const [, width = '', base = ''] = /^([0-9]+[ws])?(0[xXbBoO])?/.exec(text) ?? [];
  const radix = { x: 16, b: 2, o: 8 }[base.slice(1).toLowerCase()] ?? 10;
  return `${width}${radix === 10 ? '' : base.toLowerCase()}${e.value.toString(radix)}`;
}

/** The name that a key gets from its expression; undefined if the key needs `@name`. */
function nameOf(c: Checker, e: Expression): string | undefined {
  switch (e.kind) {
    case 'path':
      return e.name.text;
    case 'member': {
      const base = e.base.kind === 'type-expression' ? 'error' : nameOf(c, e.base);
      if (base === undefined) return undefined;
      const member = c.found.members.get(e);
      const given = member?.kind === 'field' ? member.field.annotations.get('name') : undefined;
      // A given name that begins with a dot stands for itself.
      return given?.startsWith('.') ? given.slice(1) : `${base}.${given ?? e.member.text}`;
    }
    case 'index': {
      const base = nameOf(c, e.base);
      const index = literal(c, e.index) ?? nameOf(c, e.index);
      return base === undefined || index === undefined ? undefined : `${base}[${index}]`;
    }
    case 'slice': {
      const base = nameOf(c, e.base);
      const high = literal(c, e.high);
      const low = literal(c, e.low);
      if (base === undefined || high === undefined || low === undefined) return undefined;
      return e.isPlus ? `${base}[${BigInt(high) + BigInt(low) - 1n}:${high}]` : `${base}[${high}:${low}]`;
    }
    case 'call': {
      if (e.callee.kind !== 'member' || e.callee.member.text !== 'isValid') return undefined;
      const base = nameOf(c, e.callee.base);
      return base === undefined ? undefined : `${base}.$valid$`;
    }
    case 'binary': {
      if (e.operator !== '&') return undefined;
      const left = written(e.left) ?? literal(c, e.left) ?? nameOf(c, e.left);
      const right = written(e.right) ?? literal(c, e.right) ?? nameOf(c, e.right);
      return left === undefined || right === undefined ? undefined : `${left} & ${right}`;
    }
    case 'boolean':
      return String(e.value);
    default:
      return literal(c, e);
  }
}

/**
 * Name of a key for the control plane: from `@name`, otherwise from the expression. Reports a key without a name.
 * Source: P4_16 language specification, "Control plane names", "Keys".
 */
export function keyName(c: Checker, key: TableKey): string {
  const [value] = annotation(key.annotations, 'name')?.values ?? [];
  if (value?.kind === 'string') return value.value;
  const name = nameOf(c, key.expression);
  if (name !== undefined) return name;
  const { span } = key.expression;
  c.error('key-name', span, 'this key needs a name for the control plane: add @name("...") after its match kind');
  return `key at line ${lineColumn(span.file, span.start).line}`;
}
