import { library } from '../../../tsup.config.base.js';

export default library({ watch: 'src/watch.ts', study: 'src/study.ts' }, { format: ['esm'] });
