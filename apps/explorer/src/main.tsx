import { render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import { startTheme } from './theme.ts'

startTheme()
startRouter()
render(<App />, document.getElementById('app')!)
