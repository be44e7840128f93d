import { it } from 'vitest';
import { ThresholdController } from '../../src/adapt/controller.js';
import { DETECTORS, digits, meanRate, randomOf, run } from './loads.js';
it('x', () => {
  const random = randomOf('coarse 1100 80');
  const c = new ThresholdController({ target: 1100, initial: 3, kind: 'level' });
  let log='';let last='';
  const e = run(c, { random, seconds: 60, reports: () => 40000, draw: digits(random,80), detect: DETECTORS.threshold!.make(random) }, (s)=>{ const x=c.threshold+c.status; if(x!==last){const k=(c as any).control;log+=s.toFixed(2)+':'+x+' '+(k.held?`[h ${k.held.position} ${k.held.rate.toFixed(0)} o ${k.other.position} ${k.other.rate.toFixed(0)} ${k.otherRate.toFixed(0)}] `:'');last=x;} if(s>5&&s<5.005)console.log(JSON.stringify((c as any).control.visited.places)); });
  console.log('LOG '+log.slice(0,2500)); console.log('LOG '+log.slice(-1500));
});
