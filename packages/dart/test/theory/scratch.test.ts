import { it } from 'vitest';
import { bestCopies, bytesPerFlowFor, outcomesAtLoad, planMemory } from '../../src/theory/plan.js';
import { AdaptiveCopies, adaptiveOutcomes } from '../../src/theory/adaptive-copies.js';
import { meanInsertionSuccess } from '../../src/theory/insertion.js';
it('x', () => {
  console.log(outcomesAtLoad({ load: 24 / 300, copies: 4, policy:'single' }));
  console.time('b'); for (const l of [0.01,0.1,.2,.5,.8,1,2]) console.log(l, bestCopies(l), bestCopies(l, 'oldest')); console.timeEnd('b');
  console.time('a'); console.log(bytesPerFlowFor(.999), bytesPerFlowFor(.99,{measure:'oldest'}), bytesPerFlowFor(1-1e-9)); console.timeEnd('a');
  console.time('c'); console.log(planMemory({ flows: 1e8, success: .999 }).bytes); console.timeEnd('c');
  console.time('d'); const o = new AdaptiveCopies(); const m = new AdaptiveCopies({ measure: 'mean' }); console.timeEnd('d'); console.log(o.thresholds, m.thresholds);
  console.time('e');
  for (const L of [.02,.05,.1,.2,.4,.8,1.2,2,3]) console.log(L, [1,2,3,4,5,6,8].map((copies) => outcomesAtLoad({ load: L, copies }).success.toFixed(4)).join(' '), '| old', adaptiveOutcomes({ load: L, adaptive: o }).success.toFixed(4), 'mean', adaptiveOutcomes({ load: L, adaptive: m }).success.toFixed(4), 'cas', meanInsertionSuccess(L).toFixed(4), 'oldest', adaptiveOutcomes({ load: L, adaptive: o, ages: {from:1,to:1} }).success.toFixed(4), outcomesAtLoad({ load: L, copies:bestCopies(L,'oldest'), ages:{from:1,to:1} }).success.toFixed(4));
  console.timeEnd('e');
});
