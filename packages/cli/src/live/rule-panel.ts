import type { DetectionState } from '../output/detection-state.js';
import { adaptationLines, ruleTable } from '../output/detection-summary.js';
import { passes } from './filter.js';
import type { Entry, Panel } from './panel.js';

/** The rules, and the thresholds that adapt. */
export function rulePanel({ totals, adaptation, notice }: DetectionState, filter: string): Panel {
  const [heading, ...rules] = ruleTable(totals);
  const names = [...totals.byRule.keys()];
  const isShown = (name: string | null): boolean => passes(filter, { switches: [], words: [name] });
  // The one without a name is the last.
  const lines = rules.flatMap((text, index): Entry[] =>
    isShown(names[index] ?? '(no rule)') ? [[{ text: `  ${text}` }]] : [],
  );
  const adapting = adaptationLines(adaptation).flatMap((text, index): Entry[] =>
    isShown(adaptation[index]!.rule ?? 'all rules') ? [[{ text: `  ${text}`, mark: 'cyan' }]] : [],
  );
  const entries = [...lines, ...adapting];
  const told: Entry[] = notice === null ? [] : [[{ text: `  ${notice.text}`, mark: notice.isProblem ? 'red' : 'dim' }]];
  return {
    name: 'rules',
    title: `Rules ${names.length}`,
    heading: `  ${heading!}`,
    entries: [...told, ...entries],
    urgent: 0,
    nothing: 'no rule matches the filter',
  };
}
