import { library } from '../../tsup.config.base.js';

export default library(
  { demo: 'src/demo.ts', network: 'src/network.ts', processor: 'src/processor.ts' },
  { format: ['esm'] },
);
