import { useEffect, useState } from 'preact/hooks';
import type { DryRunAnswer, RuleProblem, RulesAnswer } from '../../client/index.js';
import { Empty, Panel } from '../parts/panel.js';
import { Editor } from '../rules/editor.js';
import { RuleForm } from '../rules/form.js';
import { Difference, DryRun, Versions } from '../rules/results.js';
import { useAnswer } from '../state/answers.js';
import { client, messageOf, status } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { keep, kept } from '../state/location.js';
import { download } from '../table/export.js';

const DRAFT = 'int-dashboard-rules';
const CHECK_MS = 300;
const DRY_SECONDS = 60;
const KEYWORDS = [
  'name',
  'priority',
  'match',
  'detect',
  'metric',
  'threshold',
  'scope',
  'protocol',
  'source',
  'destination',
  'sourcePort',
  'destinationPort',
  'severity',
  'default',
  'version',
  'units',
  'rules',
];

type Tab = 'dry' | 'diff' | 'p4' | 'versions';

/** A draft outlives a reload of the page, and nothing else. */
function heldDraft(): string | null {
  try {
    return sessionStorage.getItem(DRAFT);
  } catch {
    return null;
  }
}

function holdDraft(text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(DRAFT);
    else sessionStorage.setItem(DRAFT, text);
  } catch {
    // A reload then loses it.
  }
}

export function RulesView() {
  const [asked, setAsked] = useState(0);
  const { data, error } = useAnswer(`rules ${asked}`, (signal) => client.rules({ signal }));
  if (data === null) {
    return <Empty>{error ?? 'Asking for the rules…'}</Empty>;
  }
  return <Workshop answer={data} failure={error} onApplied={() => setAsked((count) => count + 1)} />;
}

interface WorkshopProps {
  readonly answer: RulesAnswer;
  readonly failure: string | null;
  readonly onApplied: () => void;
}

function Workshop({ answer, failure, onApplied }: WorkshopProps) {
  const isReadOnly = status.value?.readOnly ?? false;
  const [draft, setDraft] = useState(() => heldDraft() ?? answer.yaml);
  const [problems, setProblems] = useState<readonly RuleProblem[]>([]);
  const [tab, setTab] = useState<Tab>('dry');
  const [dry, setDry] = useState<DryRunAnswer | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [busy, setBusy] = useState<string | null>(null);
  const [told, setTold] = useState<{ readonly text: string; readonly isBad: boolean } | null>(null);
  const chosen = kept('rule');

  const change = (text: string): void => {
    setDraft(text);
    holdDraft(text === answer.yaml ? null : text);
    setTold(null);
  };
  // Mistakes show while one types.
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setProblems((await client.checkRules(draft, { signal: controller.signal })).problems);
      } catch (reason) {
        if (!controller.signal.aborted) setTold({ text: messageOf(reason), isBad: true });
      }
    }, CHECK_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [draft]);

  const run = async (name: string, task: () => Promise<string | null>): Promise<void> => {
    setBusy(name);
    setTold(null);
    try {
      const text = await task();
      if (text !== null) setTold({ text, isBad: false });
    } catch (reason) {
      setTold({ text: messageOf(reason), isBad: true });
    }
    setBusy(null);
  };
  const dryRun = (): Promise<void> =>
    run('dry', async () => {
      const found = await client.dryRun(draft, DRY_SECONDS);
      setDry(found);
      setProblems(found.problems);
      setTab('dry');
      return null;
    });
  const apply = (): Promise<void> =>
    run('apply', async () => {
      const { saved } = await client.applyRules(draft, answer.revision, isSaving);
      holdDraft(null);
      onApplied();
      return saved ? `Applied, and saved to ${answer.file ?? 'the file'}.` : 'Applied. The file is as it was.';
    });
  useKeys([
    { key: 'd', text: 'dry run over the last minute', run: () => void dryRun() },
    { key: 'A', text: 'apply the rules', run: () => void (canApply && apply()) },
    { key: 'v', text: 'difference to the rules that run', run: () => setTab('diff') },
  ]);
  const isChanged = draft !== answer.yaml;
  const hasErrors = problems.some(({ severity }) => severity === 'error');
  const canApply = isChanged && !hasErrors && !isReadOnly && busy === null;
  const { metrics, switches, groups, detectors } = answer.words;
  const line = answer.rules.find(({ name }) => name === chosen)?.line ?? null;

  return (
    <div class="split rules">
      <Panel title="Rules" note={answer.file ?? 'not from a file'} isFlush error={failure}>
        <RuleForm
          text={draft}
          answer={answer}
          isReadOnly={isReadOnly}
          chosen={chosen}
          onChoose={(name) => keep({ rule: name })}
          onInput={change}
        />
      </Panel>
      <Panel
        title="YAML"
        note={isChanged ? <span class="tag warn">changed</span> : 'as it runs'}
        isFlush
        tools={
          <>
            {isChanged && (
              <button type="button" onClick={() => change(answer.yaml)}>
                Undo all
              </button>
            )}
            <button type="button" disabled={busy !== null || hasErrors} onClick={() => void dryRun()}>
              {busy === 'dry' ? 'Running…' : 'Dry run'}
            </button>
            {answer.file !== null && (
              <label class="row">
                <input
                  type="checkbox"
                  checked={isSaving}
                  disabled={isReadOnly}
                  onChange={() => setSaving((now) => !now)}
                />
                save to the file
              </label>
            )}
            <button type="button" class="primary" disabled={!canApply} onClick={() => void apply()}>
              {busy === 'apply' ? 'Applying…' : 'Apply'}
            </button>
          </>
        }
      >
        {isReadOnly && <p class="notice">This dashboard is read only: rules can be tried here, and not applied.</p>}
        {told !== null && (
          <p class={told.isBad ? 'failure' : 'notice'} role="status">
            {told.text}
          </p>
        )}
        <Editor
          text={draft}
          problems={problems}
          words={[...new Set([...metrics, ...switches, ...groups, ...detectors, ...KEYWORDS])]}
          isReadOnly={false}
          line={line}
          onInput={change}
        />
      </Panel>
      <Panel title="Before it is applied" isFlush tools={<Tabs tab={tab} onTab={setTab} />}>
        {tab === 'dry' &&
          (dry === null ? (
            <Empty>
              A dry run runs the text over the last minute, and says what it would have raised. Nothing changes. Press{' '}
              <kbd>d</kbd>.
            </Empty>
          ) : (
            <DryRun answer={dry} />
          ))}
        {tab === 'diff' && <Difference running={answer.yaml} draft={draft} />}
        {tab === 'p4' && <Tables yaml={draft} />}
        {tab === 'versions' && <Versions versions={answer.versions} revision={answer.revision} onTake={change} />}
      </Panel>
    </div>
  );
}

const TABS: readonly (readonly [Tab, string])[] = [
  ['dry', 'Dry run'],
  ['diff', 'Difference'],
  ['p4', 'P4 tables'],
  ['versions', 'Versions'],
];

function Tabs({ tab, onTab }: { readonly tab: Tab; readonly onTab: (tab: Tab) => void }) {
  return (
    <>
      {TABS.map(([name, text]) => (
        <button key={name} type="button" aria-pressed={tab === name} onClick={() => onTab(name)}>
          {text}
        </button>
      ))}
    </>
  );
}

/** The rules as commands for the tables of a switch. */
function Tables({ yaml }: { readonly yaml: string }) {
  const { data, error } = useAnswer(yaml, (signal) => client.ruleTables(yaml, { signal }));
  if (data === null) return <Empty>{error ?? 'Making the commands…'}</Empty>;
  if (data.problems.length > 0) {
    return <Empty>{data.problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('; ')}</Empty>;
  }
  const commands = `${data.commands.join('\n')}\n`;
  return (
    <div class="dry">
      <div class="row">
        <span class="grow dim">For simple_switch_CLI and p4/int.p4.</span>
        <button type="button" onClick={() => download('rules.txt', 'text/plain', commands)}>
          Download
        </button>
      </div>
      {data.refused.map(({ rule, reason }) => (
        <p key={rule} class="warn">
          {rule}: {reason}
        </p>
      ))}
      <pre>{commands}</pre>
    </div>
  );
}
