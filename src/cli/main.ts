process.stdout.write('quoin\n')
