// @ts-check
// Prints what passed on its second try only, and `N passed, N failed`, from vitest's JSON report: `node .ci/scripts/total.mjs REPORT [FAILED_STEPS]`.
import { readFileSync } from 'node:fs';

const [report = '', failedSteps = '0'] = process.argv.slice(2);
let passed = 0;
let failed = Number(failedSteps);
try {
  /** @type {{ numPassedTests: number, numFailedTests: number, testResults: { status: string, assertionResults: { status: string, fullName: string, failureMessages: string[] }[] }[] }} */
  const results = JSON.parse(readFileSync(report, 'utf8'));
  passed = results.numPassedTests;
  failed += results.numFailedTests;
  for (const { status, fullName, failureMessages } of results.testResults.flatMap((file) => file.assertionResults)) {
    if (status !== 'passed' || failureMessages.length === 0) continue;
    const [message, ...stack] = failureMessages[0]?.split('\n') ?? [];
    const place = stack.find((line) => /\.(?:test|soak)\.ts:/.test(line))?.trim() ?? '';
    console.log(`on the second try: ${fullName}\n  ${message} ${place}`);
  }
  // A file that cannot be loaded, or whose set-up fails, has no failed test to count: it is one itself.
  failed += results.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
  ).length;
} catch {
  // No report: the tests did not run, and the step that should have run them is among the failed ones.
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
