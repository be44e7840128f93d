import { render } from 'preact';
import './style/page.css';

render(<p>INT</p>, document.getElementById('page')!);
