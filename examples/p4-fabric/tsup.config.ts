import { library } from '../../tsup.config.base.js';

export default library({ fabric: 'src/fabric.ts', demo: 'src/demo.ts' }, { format: ['esm'] });
