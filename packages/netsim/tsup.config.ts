import { library } from '../../tsup.config.base.js';

export default library({ index: 'src/index.ts', node: 'src/node/index.ts', p4: 'src/p4/index.ts' });
