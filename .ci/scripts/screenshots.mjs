// @ts-check
// Takes the pictures of the dashboard that READMEs show: `npm run screenshots`. It needs Chromium, and runs the page of the
// working tree on a network of its own; for the views of the controller the example of the closed loop, as it was built.
import { startVitest } from 'vitest/node';
import { repository } from './workspaces.mjs';

const vitest = await startVitest('test', [], {
  root: repository,
  include: ['packages/dashboard/test/screenshots.program.ts'],
  globalSetup: [],
  watch: false,
  // A busy machine draws slowly; each step has a limit of its own.
  testTimeout: 1_200_000,
});
await vitest.close();
