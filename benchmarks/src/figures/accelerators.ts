/** Figures of what accelerators are worth to commands. */
import { markdownTable, paragraph, surroundingsLine } from '@int/harness';
import { percent, results, two } from './reading.js';

interface Accelerators {
  readonly reports: number;
  readonly rounds: number;
  readonly leastGain: number;
  readonly commands: readonly {
    readonly accelerator: string;
    readonly command: string;
    readonly with: number;
    readonly without: number;
    readonly gain: number;
  }[];
}

function commands(): string {
  const all = results<Accelerators>('accelerators');
  return [
    `${surroundingsLine(all)}:`,
    paragraph(
      `Seconds of processor time for ${all.reports.toLocaleString('en')} reports, medians of ${all.rounds} runs. A gain below ${percent(all.leastGain, 0)} is none.`,
    ),
    markdownTable(
      ['Command', 'Accelerator of', 'With', 'Without', 'Gain'],
      all.commands.map((row) => [
        `\`${row.command}\``,
        row.accelerator,
        two(row.with),
        two(row.without),
        row.gain >= all.leastGain ? percent(row.gain) : 'none',
      ]),
    ),
  ].join('\n\n');
}

export const accelerators = { accelerators: commands };
