import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FieldNode } from '../../client/index.js';
import { Empty } from '../parts/panel.js';

const PER_LINE = 16;
/** Bytes shown at most; a frame is rarely longer. */
const MOST = 2048;

interface BytesProps {
  readonly hex: string;
  readonly fields: readonly FieldNode[];
  readonly isHistory: boolean;
}

/** The frame, and the decoder's tree of its fields: what one points at lights up in the other. */
export function Bytes({ hex, fields, isHistory }: BytesProps) {
  const [lit, setLit] = useState<FieldNode | null>(null);
  const deepest = useMemo(() => owners(fields, hex.length / 2), [fields, hex]);
  if (hex === '') {
    return (
      <Empty>
        {isHistory
          ? 'The history holds the values of a report, not its bytes.'
          : 'This report came without the bytes of its frame: only its values are known.'}
      </Empty>
    );
  }
  const count = Math.min(MOST, hex.length / 2);
  const isLit = (at: number): boolean => lit !== null && at >= lit.offset && at < lit.offset + lit.length;
  const lines: ComponentChildren[] = [];
  for (let start = 0; start < count; start += PER_LINE) {
    const cells = Array.from({ length: Math.min(PER_LINE, count - start) }, (_, k) => start + k);
    lines.push(
      <div key={start}>
        <span class="dim">{start.toString(16).padStart(4, '0')}</span>
        {cells.map((at) => (
          <span key={at} class={isLit(at) ? 'byte lit' : 'byte'} onPointerEnter={() => setLit(deepest[at] ?? null)}>
            {hex.slice(2 * at, 2 * at + 2)}
          </span>
        ))}
      </div>,
    );
  }
  return (
    <div class="bytes" onPointerLeave={() => setLit(null)}>
      <pre class="hex">
        {lines}
        {hex.length / 2 > MOST && <div class="dim">and {hex.length / 2 - MOST} more</div>}
      </pre>
      <ul class="tree">
        {fields.map((field, index) => (
          <Field key={`${index} ${field.offset} ${field.name}`} field={field} lit={lit} onLit={setLit} />
        ))}
      </ul>
    </div>
  );
}

interface FieldProps {
  readonly field: FieldNode;
  readonly lit: FieldNode | null;
  readonly onLit: (field: FieldNode) => void;
}

function Field({ field, lit, onLit }: FieldProps) {
  const { name, value, offset, length, bits, children = [] } = field;
  return (
    <li>
      <button
        type="button"
        class={lit === field ? 'link lit' : 'link'}
        title={
          bits === undefined
            ? `bytes ${offset} to ${offset + length - 1}`
            : `bits ${bits.offset} to ${bits.offset + bits.length - 1} of byte ${offset}`
        }
        onPointerEnter={() => onLit(field)}
        onFocus={() => onLit(field)}
      >
        <span class="dim">{name}</span> {value}
      </button>
      {children.length > 0 && (
        <ul>
          {children.map((child, index) => (
            <Field key={`${index} ${child.offset} ${child.name}`} field={child} lit={lit} onLit={onLit} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** For each byte the smallest field that holds it. */
function owners(fields: readonly FieldNode[], count: number): (FieldNode | undefined)[] {
  const found: (FieldNode | undefined)[] = new Array(Math.min(MOST, count));
  const visit = (field: FieldNode): void => {
    for (let at = Math.max(0, field.offset); at < Math.min(found.length, field.offset + field.length); at++)
      found[at] = field;
    for (const child of field.children ?? []) visit(child);
  };
  for (const field of fields) visit(field);
  return found;
}
