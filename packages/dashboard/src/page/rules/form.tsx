import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RulesAnswer } from '../../client/index.js';
import { countText } from '../format/text.js';
import { Empty } from '../parts/panel.js';
import { useSelection } from '../state/selection.js';
import {
  COMMON_FIELDS,
  DETECTOR_FIELDS,
  DETECTOR_STARTS,
  EVENT_FIELDS,
  MATCH_FIELDS,
  type RuleField,
} from './rule-fields.js';
import { RuleText } from './rule-text.js';

interface FormProps {
  readonly text: string;
  readonly answer: RulesAnswer;
  readonly isReadOnly: boolean;
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
  readonly onInput: (text: string) => void;
}

/** The rules as a form. It changes the text, and the text changes it. */
export function RuleForm({ text, answer, isReadOnly, chosen, onChoose, onInput }: FormProps) {
  const rules = useMemo(() => new RuleText(text), [text]);
  const list = rules.isReadable ? rules.rules : [];
  const index = Math.max(
    0,
    list.findIndex(({ name }) => name === chosen),
  );
  const running = new Map(answer.rules.map((each) => [each.name, each]));
  const { row, select } = useSelection(list.length, 'rule', (at) => onChoose(list[at]!.name));
  if (!rules.isReadable) {
    return (
      <Empty>
        The text at the right is no list of rules at the moment. Its mistakes are below it; the form comes back when
        they are gone.
      </Empty>
    );
  }
  const rule = list[index];
  return (
    <div class="form">
      <table class="list">
        <thead>
          <tr>
            <th>rule</th>
            <th>detector</th>
            <th class="num">matched</th>
            <th class="num">events</th>
          </tr>
        </thead>
        <tbody>
          {list.map(({ name, detector }, at) => (
            <tr
              key={name}
              data-row
              aria-selected={at === index || at === row}
              onClick={() => {
                select(at);
                onChoose(name);
              }}
            >
              <td>
                <button type="button" class="link">
                  {name}
                </button>
              </td>
              <td class="dim">{detector ?? 'none'}</td>
              <td class="num">{running.has(name) ? countText(running.get(name)!.matched) : 'new'}</td>
              <td class="num">{countText(running.get(name)?.events)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isReadOnly && (
        <div class="row tools">
          <button type="button" onClick={() => onInput(rules.withRule())}>
            Add a rule
          </button>
          {rule !== undefined && (
            <button type="button" onClick={() => onInput(rules.withoutRule(index))}>
              Remove {rule.name}
            </button>
          )}
        </div>
      )}
      {rule !== undefined && (
        <Fields
          rules={rules}
          index={index}
          detector={rule.detector}
          words={answer.words}
          isReadOnly={isReadOnly}
          onInput={onInput}
          onName={onChoose}
        />
      )}
    </div>
  );
}

interface FieldsProps {
  readonly rules: RuleText;
  readonly index: number;
  readonly detector: string | null;
  readonly words: RulesAnswer['words'];
  readonly isReadOnly: boolean;
  readonly onInput: (text: string) => void;
  readonly onName: (name: string) => void;
}

function Fields({ rules, index, detector, words, isReadOnly, onInput, onName }: FieldsProps) {
  const change = (path: readonly string[], value: string): void => {
    onInput(rules.withValue(index, path, value));
    if (path.join() === 'name') onName(value);
  };
  const one = (each: RuleField) => {
    const { path, label, hint, choices, words: source } = each;
    const id = `rule-${path.join('-')}`;
    const value = rules.value(index, path);
    return (
      <div key={id} class="field">
        <label for={id}>{label}</label>
        {choices !== undefined ? (
          <select
            id={id}
            value={value}
            disabled={isReadOnly}
            onChange={(event) => change(path, event.currentTarget.value)}
          >
            {[...new Set([...choices, value])].map((choice) => (
              <option key={choice} value={choice}>
                {choice === '' ? `(${hint})` : choice}
              </option>
            ))}
          </select>
        ) : (
          <TextField
            id={id}
            list={source === undefined ? undefined : `words-${source}`}
            hint={hint}
            value={value}
            isReadOnly={isReadOnly}
            onChange={(text) => change(path, text)}
          />
        )}
      </div>
    );
  };
  const kinds = [...new Set([...Object.keys(DETECTOR_FIELDS), ...words.detectors])];
  return (
    <div class="fields">
      {(['metrics', 'switches', 'groups'] as const).map((name) => (
        <datalist key={name} id={`words-${name}`}>
          {words[name].map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      ))}
      {COMMON_FIELDS.map(one)}
      <h3>Which reports</h3>
      {MATCH_FIELDS.map(one)}
      <h3>What is an event</h3>
      <div class="field">
        <label for="rule-detector">detector</label>
        <select
          id="rule-detector"
          value={detector ?? ''}
          disabled={isReadOnly}
          onChange={(event) => {
            const kind = event.currentTarget.value;
            onInput(rules.withDetector(index, kind, DETECTOR_STARTS[kind] ?? {}));
          }}
        >
          {detector === null && <option value="">none</option>}
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {kind}
            </option>
          ))}
        </select>
      </div>
      {(DETECTOR_FIELDS[detector ?? ''] ?? []).map(one)}
      <h3>How it is told</h3>
      {EVENT_FIELDS.map(one)}
    </div>
  );
}

interface TextFieldProps {
  readonly id: string;
  readonly list: string | undefined;
  readonly hint: string;
  readonly value: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

/** What is being written is the field's own, until it is left: the page is drawn anew meanwhile. */
function TextField({ id, list, hint, value, isReadOnly, onChange }: TextFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const leave = (): void => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <input
      id={id}
      type="text"
      list={list}
      placeholder={hint}
      value={text}
      readOnly={isReadOnly}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => setText(event.currentTarget.value)}
      onBlur={leave}
      onKeyDown={(event) => event.key === 'Enter' && leave()}
    />
  );
}
