import type { ControlOperands, IncidentRow } from '../../client/index.js';
import { type Comparison, comparisonsOf, partsOf } from './formula.js';

/** A number of an arithmetic, with the digits that tell it apart from its threshold. */
function numberText(value: number | string | null): string {
  if (value === null) return 'not measured';
  if (typeof value === 'string') return value;
  if (Number.isInteger(value) || Math.abs(value) >= 1e6)
    return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
  return value.toLocaleString('en-US', { maximumSignificantDigits: 5 });
}

/** Why the incident was opened: the formula with its numbers, and how far beyond the threshold they are. */
export function Arithmetic({ row }: { readonly row: IncidentRow }) {
  const { formula, operands } = row;
  const comparisons = comparisonsOf(formula, operands);
  return (
    <div class="arithmetic">
      <p class="formula mono">
        {partsOf(formula, operands).map(({ text, isOperand }, index) =>
          isOperand ? (
            <span key={index} class="operand">
              {text}
              <b>{numberText(operands[text] ?? null)}</b>
            </span>
          ) : (
            <span key={index}>{text}</span>
          ),
        )}
      </p>
      {comparisons.length > 0 && (
        <table class="comparisons">
          <thead>
            <tr>
              <th>what was compared</th>
              <th class="num">measured</th>
              <th class="num">threshold</th>
              <th>measured, of the threshold</th>
            </tr>
          </thead>
          <tbody>
            {comparisons.map((each, index) => (
              <tr key={index}>
                <td class="mono">
                  {each.left} {each.sign} {each.right}
                </td>
                <td class="num">
                  <b>{numberText(each.measured)}</b>
                </td>
                <td class="num">{numberText(each.threshold)}</td>
                <td>
                  <Margin comparison={each} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <OperandList operands={operands} />
    </div>
  );
}

/** The threshold is where the tick is, in the middle. */
function Margin({ comparison: { measured, threshold } }: { readonly comparison: Comparison }) {
  if (!(threshold > 0)) return <span class="dim">–</span>;
  const share = measured / threshold;
  return (
    <span class="row">
      <span class="margin">
        <i style={{ width: `${Math.max(1, Math.min(100, 50 * share))}%` }} />
        <u />
      </span>
      <span class="num">{share >= 100 ? '> 100' : share.toFixed(2)}×</span>
    </span>
  );
}

/** All numbers, also those that the formula does not name. */
export function OperandList({ operands }: { readonly operands: ControlOperands }) {
  return (
    <dl class="operands">
      {Object.entries(operands).map(([name, value]) => (
        <div key={name}>
          <dt class="mono">{name}</dt>
          <dd>{numberText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
