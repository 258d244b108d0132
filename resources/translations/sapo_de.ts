<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>Nothing is being computed.</source>
        <translation>Es wird nichts berechnet.</translation>
    </message>
    <message>
        <source>SAPO Desktop goes on here</source>
        <translation>SAPO Desktop läuft hier weiter</translation>
    </message>
    <message>
        <source>Quit it from the menu of this icon.</source>
        <translation>Beenden kannst du es im Menü dieses Symbols.</translation>
    </message>
    <message>
        <source>The node stopped</source>
        <translation>Der Knoten ist stehen geblieben</translation>
    </message>
    <message>
        <source>This could not be done</source>
        <translation>Das ging nicht</translation>
    </message>
    <message>
        <source>A bug in the window: {error}. The node is not touched by it; logs/window.log says where.</source>
        <translation>Ein Fehler im Fenster: {error}. Der Knoten ist davon nicht betroffen; logs/window.log sagt, wo.</translation>
    </message>
    <message>
        <source>Round {round}</source>
        <translation>Runde {round}</translation>
    </message>
    <message>
        <source>my reward {value}</source>
        <translation>meine Belohnung {value}</translation>
    </message>
    <message numerus="yes">
        <source>swarm {value} ({low} to {high}), measured on %n peer(s)</source>
        <translation>
            <numerusform>Schwarm {value} ({low} bis {high}), gemessen an %n Peer</numerusform>
            <numerusform>Schwarm {value} ({low} bis {high}), gemessen an %n Peers</numerusform>
        </translation>
    </message>
    <message>
        <source>held-out {value} (round {round})</source>
        <translation>Prüfwert {value} (Runde {round})</translation>
    </message>
    <message>
        <source>{task}: last round {share}</source>
        <translation>{task}: letzte Runde {share}</translation>
    </message>
    <message>
        <source>Sharing publishes, under this node&apos;s key, the answers that its model gives, and those that you type where it asks you a question (it says so each time): a random number of this installation, the name of the task, the time in steps of ten minutes, the texts, and the setting `label` if you gave one. No question of yours, no file and no other name is among them.</source>
        <translation>Teilen veröffentlicht unter dem Schlüssel dieses Knotens die Antworten, die sein Modell gibt, und die, die du eintippst, wo er dir eine Frage stellt (er sagt es jedes Mal): eine Zufallszahl dieser Installation, den Namen der Aufgabe, die Zeit in Schritten von zehn Minuten, die Texte und die Einstellung `label`, falls du sie gesetzt hast. Keine Frage von dir, keine Datei und kein anderer Name ist darunter.</translation>
    </message>
    <message>
        <source>They are placed in the public domain (CC0), anybody may keep and pass them on, and they cannot be called back.</source>
        <translation>Sie werden gemeinfrei (CC0): Alle dürfen sie behalten und weitergeben, und sie lassen sich nicht zurückholen.</translation>
    </message>
    <message>
        <source>Whoever this node links to sees its internet address beside its key, and is told its round, its mean reward, and how many of their answers it used.</source>
        <translation>Alle, mit denen sich dieser Knoten verbindet, sehen seine Internetadresse neben seinem Schlüssel und erfahren seine Runde, seine mittlere Belohnung und wie viele ihrer Antworten er genutzt hat.</translation>
    </message>
    <message>
        <source>Sharing can be ended at any time. A new identity, with a new random number, cuts the tie to what was shared.</source>
        <translation>Das Teilen lässt sich jederzeit beenden. Eine neue Identität mit einer neuen Zufallszahl löst das Band zu dem, was geteilt wurde.</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}&#xa0;%</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds}&#xa0;s</translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes}&#xa0;min {seconds}&#xa0;s</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours}&#xa0;h {minutes}&#xa0;min</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days}&#xa0;d {hours}&#xa0;h</translation>
    </message>
    <message>
        <source>Aha</source>
        <translation>Aha</translation>
    </message>
    <message>
        <source>Tasks never solved here before, first solved after a peer&apos;s answer had been learned from: after, not because of.</source>
        <translation>Aufgaben, die hier noch nie gelöst waren und zum ersten Mal gelöst wurden, nachdem aus der Antwort eines Peers gelernt worden war: danach, nicht deswegen.</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source>It takes 64 unsolved tries, and a peer who can do it.</source>
        <translation>Dazu braucht es 64 ungelöste Versuche und einen Peer, der es kann.</translation>
    </message>
    <message numerus="yes">
        <source>and %n earlier</source>
        <translation>
            <numerusform>und %n früheres</numerusform>
            <numerusform>und %n frühere</numerusform>
        </translation>
    </message>
    <message>
        <source>{task}, round {round}</source>
        <translation>{task}, Runde {round}</translation>
    </message>
    <message>
        <source>Show both answers</source>
        <translation>Beide Antworten zeigen</translation>
    </message>
    <message numerus="yes">
        <source>%n own answers were wrong. In round {peer_round} a peer&apos;s answer was learned from; in round {round} an own one was right.</source>
        <translation>
            <numerusform>%n eigene Antwort war falsch. In Runde {peer_round} wurde aus der Antwort eines Peers gelernt; in Runde {round} war eine eigene richtig.</numerusform>
            <numerusform>%n eigene Antworten waren falsch. In Runde {peer_round} wurde aus der Antwort eines Peers gelernt; in Runde {round} war eine eigene richtig.</numerusform>
        </translation>
    </message>
    <message>
        <source>Mine, round {round}</source>
        <translation>Meine, Runde {round}</translation>
    </message>
    <message>
        <source>My question</source>
        <translation>Meine Frage</translation>
    </message>
    <message>
        <source>My answer</source>
        <translation>Meine Antwort</translation>
    </message>
    <message>
        <source>(not kept)</source>
        <translation>(nicht aufgehoben)</translation>
    </message>
    <message>
        <source>The peer&apos;s, {peer}</source>
        <translation>Die des Peers, {peer}</translation>
    </message>
    <message>
        <source>Questions are made up from the tasks in training.</source>
        <translation>Aus den Aufgaben im Training werden Fragen gebildet.</translation>
    </message>
    <message>
        <source>The model answers each question several times.</source>
        <translation>Das Modell beantwortet jede Frage mehrmals.</translation>
    </message>
    <message>
        <source>Each answer is marked by a program, here.</source>
        <translation>Jede Antwort wird hier von einem Programm bewertet.</translation>
    </message>
    <message>
        <source>Own answers are signed and handed to peers, where sharing is on.</source>
        <translation>Eigene Antworten werden signiert und Peers übergeben, wo das Teilen eingeschaltet ist.</translation>
    </message>
    <message>
        <source>Peers&apos; answers are fetched, their questions made again and marked here.</source>
        <translation>Antworten von Peers werden geholt, ihre Fragen neu gebildet und hier bewertet.</translation>
    </message>
    <message>
        <source>The model is changed a little: towards what was right, away from what was wrong.</source>
        <translation>Das Modell wird ein wenig verändert: hin zu dem, was richtig war, weg von dem, was falsch war.</translation>
    </message>
    <message>
        <source>What was learned is written to disk.</source>
        <translation>Was gelernt wurde, wird auf die Platte geschrieben.</translation>
    </message>
    <message>
        <source>Questions that are never trained on show how much was learned.</source>
        <translation>Fragen, an denen nie trainiert wird, zeigen, wie viel gelernt wurde.</translation>
    </message>
    <message>
        <source>Only own answers. Nothing of peers is learned from, as in silo.</source>
        <translation>Nur eigene Antworten. Von Peers wird nichts gelernt, wie im Silo.</translation>
    </message>
    <message>
        <source>Two in eight questions come with peers&apos; answers.</source>
        <translation>Zwei von acht Fragen kommen mit Antworten von Peers.</translation>
    </message>
    <message>
        <source>Half own, half peers&apos; (default).</source>
        <translation>Halb eigene, halb von Peers (Standard).</translation>
    </message>
    <message>
        <source>Six in eight questions come with peers&apos; answers.</source>
        <translation>Sechs von acht Fragen kommen mit Antworten von Peers.</translation>
    </message>
    <message>
        <source>Of eight questions {own} with own answers, {external} with peers&apos;</source>
        <translation>Von acht Fragen {own} mit eigenen Antworten, {external} mit denen von Peers</translation>
    </message>
    <message>
        <source>Guarded</source>
        <translation>Vorsichtig</translation>
    </message>
    <message>
        <source>Positive</source>
        <translation>Positiv</translation>
    </message>
    <message>
        <source>Shaped</source>
        <translation>Geformt</translation>
    </message>
    <message>
        <source>Capable</source>
        <translation>Nach Können</translation>
    </message>
    <message>
        <source>As in the paper</source>
        <translation>Wie im Fachartikel</translation>
    </message>
    <message>
        <source>Right answers only. They weigh more, the less often this computer finds one itself (default).</source>
        <translation>Nur richtige Antworten. Sie wiegen mehr, je seltener dieser Computer selbst eine findet (Standard).</translation>
    </message>
    <message>
        <source>Right answers only. They weigh more, the rarer they are among the answers they came with.</source>
        <translation>Nur richtige Antworten. Sie wiegen mehr, je seltener sie unter den Antworten sind, mit denen sie kamen.</translation>
    </message>
    <message>
        <source>As guarded, and what this model would hardly have written counts more.</source>
        <translation>Wie „Vorsichtig“, und was dieses Modell kaum geschrieben hätte, zählt mehr.</translation>
    </message>
    <message>
        <source>As guarded, and peers that are better at a task than this computer count more.</source>
        <translation>Wie „Vorsichtig“, und Peers, die in einer Aufgabe besser sind als dieser Computer, zählen mehr.</translation>
    </message>
    <message>
        <source>Right and wrong answers count as own ones do. A peer can then give its answers more weight.</source>
        <translation>Richtige und falsche Antworten zählen wie eigene. Ein Peer kann seinen Antworten dann mehr Gewicht geben.</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Richtig</translation>
    </message>
    <message>
        <source>Partly right</source>
        <translation>Teils richtig</translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation>Falsch</translation>
    </message>
    <message>
        <source>Unreadable</source>
        <translation>Unlesbar</translation>
    </message>
    <message>
        <source>No answer</source>
        <translation>Keine Antwort</translation>
    </message>
    <message>
        <source>Took too long</source>
        <translation>Dauerte zu lange</translation>
    </message>
    <message>
        <source>Marker failed</source>
        <translation>Nicht bewertbar</translation>
    </message>
    <message>
        <source>The marker takes it for right.</source>
        <translation>Das Bewertungsprogramm hält sie für richtig.</translation>
    </message>
    <message>
        <source>Partly right: the marker gives it {points} of 1.</source>
        <translation>Teils richtig: Das Bewertungsprogramm gibt ihr {points} von 1.</translation>
    </message>
    <message>
        <source>It has the form of an answer, but the marker takes it for wrong.</source>
        <translation>Sie hat die Form einer Antwort, aber das Bewertungsprogramm hält sie für falsch.</translation>
    </message>
    <message>
        <source>What it gives as its answer does not have the form that this task asks for. No marker saw it.</source>
        <translation>Was sie als Antwort nennt, hat nicht die Form, nach der diese Aufgabe fragt. Kein Bewertungsprogramm hat es gesehen.</translation>
    </message>
    <message>
        <source>It ends without an answer, often at the token limit.</source>
        <translation>Sie endet ohne Antwort, oft an der Token-Grenze.</translation>
    </message>
    <message>
        <source>Marking it took too long and was given up. It counts as wrong.</source>
        <translation>Sie zu bewerten dauerte zu lange und wurde aufgegeben. Sie zählt als falsch.</translation>
    </message>
    <message>
        <source>The marker could not handle it. It counts as wrong.</source>
        <translation>Das Bewertungsprogramm kam mit ihr nicht zurecht. Sie zählt als falsch.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage {advantage}: learning made it likelier.</source>
        <translation>Belohnung {reward}, Vorteil {advantage}: Durch das Lernen wurde sie wahrscheinlicher.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage {advantage}: learning made it less likely.</source>
        <translation>Belohnung {reward}, Vorteil {advantage}: Durch das Lernen wurde sie unwahrscheinlicher.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage 0: it taught nothing new, or is not learned from.</source>
        <translation>Belohnung {reward}, Vorteil 0: Sie lehrte nichts Neues, oder aus ihr wird nicht gelernt.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage 0: all answers to its question were equally good.</source>
        <translation>Belohnung {reward}, Vorteil 0: Alle Antworten auf ihre Frage waren gleich gut.</translation>
    </message>
    <message>
        <source>own</source>
        <translation>eigene</translation>
    </message>
    <message>
        <source>you</source>
        <translation>du</translation>
    </message>
    <message>
        <source>peer {key}</source>
        <translation>Peer {key}</translation>
    </message>
    <message>
        <source>person at {key}</source>
        <translation>Person bei {key}</translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n Zeichen</numerusform>
            <numerusform>%n Zeichen</numerusform>
        </translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>easy</source>
        <translation>leicht</translation>
    </message>
    <message>
        <source>middle</source>
        <translation>mittel</translation>
    </message>
    <message>
        <source>hard</source>
        <translation>schwer</translation>
    </message>
    <message>
        <source>paper</source>
        <translation>Fachartikel</translation>
    </message>
    <message>
        <source>up, {round}</source>
        <translation>aufgestiegen, {round}</translation>
    </message>
    <message>
        <source>down, {round}</source>
        <translation>abgestiegen, {round}</translation>
    </message>
    <message>
        <source>Went up from {before} to {after} in round {round}.</source>
        <translation>In Runde {round} von {before} auf {after} aufgestiegen.</translation>
    </message>
    <message>
        <source>Went back from {before} to {after} in round {round}.</source>
        <translation>In Runde {round} von {before} auf {after} zurückgegangen.</translation>
    </message>
    <message>
        <source>unknown task {id}</source>
        <translation>unbekannte Aufgabe {id}</translation>
    </message>
    <message>
        <source>The peer&apos;s question</source>
        <translation>Die Frage des Peers</translation>
    </message>
    <message>
        <source>The peer&apos;s answer</source>
        <translation>Die Antwort des Peers</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Open the log</source>
        <translation>Protokoll öffnen</translation>
    </message>
    <message>
        <source>All that this node draws comes from one source: its view of the swarm may be made up.</source>
        <translation>Alles, was dieser Knoten zieht, kommt aus einer einzigen Quelle: Sein Bild vom Schwarm kann erfunden sein.</translation>
    </message>
    <message>
        <source>My reward</source>
        <translation>Meine Belohnung</translation>
    </message>
    <message>
        <source>The swarm&apos;s reward</source>
        <translation>Belohnung des Schwarms</translation>
    </message>
    <message>
        <source>Held-out score</source>
        <translation>Prüfwert</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Answers given</source>
        <translation>Gegebene Antworten</translation>
    </message>
    <message>
        <source>Drawn by peers</source>
        <translation>Von Peers gezogen</translation>
    </message>
    <message numerus="yes">
        <source>mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mittel der letzten Runde</numerusform>
            <numerusform>Mittel der letzten %n Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>noch nicht gemessen</translation>
    </message>
    <message numerus="yes">
        <source>{low} to {high}, measured on %n peer(s)</source>
        <translation>
            <numerusform>{low} bis {high}, gemessen an %n Peer</numerusform>
            <numerusform>{low} bis {high}, gemessen an %n Peers</numerusform>
        </translation>
    </message>
    <message>
        <source>{gain} since the start</source>
        <translation>{gain} seit dem Anfang</translation>
    </message>
    <message>
        <source>of the model as it came</source>
        <translation>des Modells, wie es kam</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Computer</translation>
    </message>
    <message>
        <source>by this computer&apos;s model</source>
        <translation>vom Modell dieses Computers</translation>
    </message>
    <message>
        <source>of my groups; their claim</source>
        <translation>meiner Gruppen; nach deren Angabe</translation>
    </message>
    <message>
        <source>Does it learn?</source>
        <translation>Lernt es?</translation>
    </message>
    <message>
        <source>Chart of my reward, the swarm&apos;s and the held-out score</source>
        <translation>Diagramm meiner Belohnung, der des Schwarms und des Prüfwerts</translation>
    </message>
    <message>
        <source>Rounds shown</source>
        <translation>Gezeigte Runden</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>Als Tabelle zeigen</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>Noch keine Runde</translation>
    </message>
    <message>
        <source>The first point appears here when the first round is done, within a minute or so.</source>
        <translation>Der erste Punkt erscheint hier, wenn die erste Runde fertig ist, nach etwa einer Minute.</translation>
    </message>
    <message numerus="yes">
        <source>my reward, mean of %n rounds</source>
        <translation>
            <numerusform>meine Belohnung, Mittel von %n Runde</numerusform>
            <numerusform>meine Belohnung, Mittel von %n Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>the swarm&apos;s, with its 95% interval</source>
        <translation>die des Schwarms, mit 95-%-Intervall</translation>
    </message>
    <message>
        <source>What happened stands in the log.</source>
        <translation>Was geschehen ist, steht im Protokoll.</translation>
    </message>
    <message>
        <source>held-out score</source>
        <translation>Prüfwert an zurückgehaltenen Fragen</translation>
    </message>
    <message>
        <source>the model as it came</source>
        <translation>das Modell, wie es kam</translation>
    </message>
    <message>
        <source>Questions get harder as they are solved, so the reward may fall while the model learns. The held-out score keeps its questions.</source>
        <translation>Die Fragen werden schwerer, wenn sie gelöst werden; darum kann die Belohnung fallen, während das Modell lernt. Für den Prüfwert bleiben die Fragen gleich.</translation>
    </message>
    <message>
        <source>The same numbers as a table, for the keyboard, a screen reader or the clipboard</source>
        <translation>Dieselben Zahlen als Tabelle, für Tastatur, Bildschirmleser oder Zwischenablage</translation>
    </message>
    <message>
        <source>Solved</source>
        <translation>Gelöst</translation>
    </message>
    <message>
        <source>Swarm&apos;s reward</source>
        <translation>Belohnung des Schwarms</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>to</source>
        <translation>bis</translation>
    </message>
    <message>
        <source>silo</source>
        <translation>Silo</translation>
    </message>
    <message>
        <source>swarm</source>
        <translation>Schwarm</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>Peers</source>
        <translation>Peers</translation>
    </message>
    <message>
        <source>Played in</source>
        <translation>Gespielt im</translation>
    </message>
    <message>
        <source>Alone and with the swarm</source>
        <translation>Allein und mit dem Schwarm</translation>
    </message>
    <message>
        <source>A look back at this computer&apos;s own rounds. They were played at different times, so this is no experiment.</source>
        <translation>Ein Rückblick auf die eigenen Runden dieses Computers. Sie wurden zu verschiedenen Zeiten gespielt, darum ist das kein Experiment.</translation>
    </message>
    <message>
        <source>Rounds in silo</source>
        <translation>Runden im Silo</translation>
    </message>
    <message>
        <source>Rounds with the swarm</source>
        <translation>Runden mit dem Schwarm</translation>
    </message>
    <message numerus="yes">
        <source>From %n rounds on there is a number here.</source>
        <translation>
            <numerusform>Ab %n Runde steht hier eine Zahl.</numerusform>
            <numerusform>Ab %n Runden steht hier eine Zahl.</numerusform>
        </translation>
    </message>
    <message>
        <source>mean reward {reward}</source>
        <translation>mittlere Belohnung {reward}</translation>
    </message>
    <message>
        <source>{reward}, {gain} in 100 rounds</source>
        <translation>{reward}, {gain} in 100 Runden</translation>
    </message>
    <message>
        <source>Task by task</source>
        <translation>Aufgabe für Aufgabe</translation>
    </message>
    <message>
        <source>Share of own answers that solved the question, in the newest rounds.</source>
        <translation>Anteil der eigenen Antworten, die die Frage lösten, in den neuesten Runden.</translation>
    </message>
    <message>
        <source>Nothing marked yet</source>
        <translation>Noch nichts bewertet</translation>
    </message>
    <message>
        <source>Each task gets its own small chart here.</source>
        <translation>Jede Aufgabe bekommt hier ihr eigenes kleines Diagramm.</translation>
    </message>
    <message>
        <source>Solved of late</source>
        <translation>Zuletzt gelöst</translation>
    </message>
    <message>
        <source>In its last round</source>
        <translation>In ihrer letzten Runde</translation>
    </message>
    <message>
        <source>Last round</source>
        <translation>Letzte Runde</translation>
    </message>
    <message>
        <source>Open SAPO Desktop</source>
        <translation>SAPO Desktop öffnen</translation>
    </message>
    <message>
        <source>Pause for</source>
        <translation>Pause für</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 Minuten</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 Stunde</translation>
    </message>
    <message>
        <source>3 hours</source>
        <translation>3 Stunden</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>Bis morgen</translation>
    </message>
    <message>
        <source>Finish this round, then pause</source>
        <translation>Diese Runde beenden, dann Pause</translation>
    </message>
    <message>
        <source>Silo: no network at all</source>
        <translation>Silo: gar kein Netz</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Passphrase</translation>
    </message>
    <message>
        <source>Once more</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>What was learned, as it was kept. Scores are shares solved of questions that are never trained on.</source>
        <translation>Das Gelernte, wie es aufgehoben wurde. Prüfwerte sind gelöste Anteile von Fragen, an denen nie trainiert wird.</translation>
    </message>
    <message>
        <source>Score now</source>
        <translation>Jetzt messen</translation>
    </message>
    <message>
        <source>Go back to it</source>
        <translation>Dorthin zurück</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Checkpoint</translation>
    </message>
    <message>
        <source>Which</source>
        <translation>Welcher</translation>
    </message>
    <message>
        <source>Share of the validation questions that it solved, with the 95% interval</source>
        <translation>Anteil der Validierungsfragen, die er gelöst hat, mit 95-%-Intervall</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>Geschrieben</translation>
    </message>
    <message>
        <source>as the model came</source>
        <translation>wie das Modell kam</translation>
    </message>
    <message>
        <source>{score} ({low} to {high})</source>
        <translation>{score} ({low} bis {high})</translation>
    </message>
    <message>
        <source>The model is as it was then; what it learned later is given up, and so is the round in hand. Rounds count on, and the other checkpoints stay for now.</source>
        <translation>Das Modell ist dann wieder, wie es damals war; was es danach gelernt hat, wird aufgegeben, die laufende Runde auch. Die Runden zählen weiter, und die anderen Checkpoints bleiben vorerst.</translation>
    </message>
    <message>
        <source>Go back to {name}?</source>
        <translation>Zurück zu „{name}“?</translation>
    </message>
    <message>
        <source>Back at {name}.</source>
        <translation>Wieder bei „{name}“.</translation>
    </message>
    <message>
        <source>Validation</source>
        <translation>Validierung</translation>
    </message>
    <message>
        <source>Test</source>
        <comment>set of questions</comment>
        <translation>Test</translation>
    </message>
    <message>
        <source>Drawn from this computer&apos;s own secret: what best and guard go by</source>
        <translation>Aus dem eigenen Geheimnis dieses Computers gezogen: Danach richten sich „best“ und der Wächter</translation>
    </message>
    <message>
        <source>The same for everybody: what can be compared with other computers</source>
        <translation>Für alle dieselben: Damit lässt sich mit anderen Computern vergleichen</translation>
    </message>
    <message>
        <source>Begin</source>
        <translation>Beginnen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Score of each task</source>
        <translation>Prüfwert jeder Aufgabe</translation>
    </message>
    <message>
        <source>{name}: held-out score</source>
        <translation>{name}: Prüfwert an zurückgehaltenen Fragen</translation>
    </message>
    <message>
        <source>{done} of {total} questions</source>
        <translation>{done} von {total} Fragen</translation>
    </message>
    <message>
        <source>Partly</source>
        <translation>Teils</translation>
    </message>
    <message numerus="yes">
        <source>Solved {score} of %n questions ({low} to {high}), in {span}.</source>
        <translation>
            <numerusform>{score} von %n Frage gelöst ({low} bis {high}), in {span}.</numerusform>
            <numerusform>{score} von %n Fragen gelöst ({low} bis {high}), in {span}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Type the passphrase first.</source>
        <translation>Gib zuerst die Passphrase ein.</translation>
    </message>
    <message numerus="yes">
        <source>A passphrase has at least %n characters.</source>
        <translation>
            <numerusform>Eine Passphrase hat mindestens %n Zeichen.</numerusform>
            <numerusform>Eine Passphrase hat mindestens %n Zeichen.</numerusform>
        </translation>
    </message>
    <message>
        <source>The two differ. Type the same one twice.</source>
        <translation>Die beiden sind verschieden. Gib zweimal dieselbe ein.</translation>
    </message>
    <message>
        <source>A passphrase is needed</source>
        <translation>Eine Passphrase wird gebraucht</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Übersicht</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <source>In silo every answer is an own one. Leave silo to choose here.</source>
        <translation>Im Silo ist jede Antwort eine eigene. Verlasse das Silo, um hier zu wählen.</translation>
    </message>
    <message>
        <source>Mix</source>
        <translation>Mischung</translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation>Aufgaben</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Parts of this page</source>
        <translation>Teile dieser Seite</translation>
    </message>
    <message>
        <source>Learned from</source>
        <translation>Daraus gelernt</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Once the round in hand is done: {model}. A pause takes it up at once.</source>
        <translation>Sobald die laufende Runde zu Ende ist: {model}. Mit einer Pause gilt es sofort.</translation>
    </message>
    <message>
        <source>Once the round in hand is done other settings hold: {settings}. A pause takes them up at once.</source>
        <translation>Sobald die laufende Runde zu Ende ist, gelten andere Einstellungen: {settings}. Mit einer Pause gelten sie sofort.</translation>
    </message>
    <message>
        <source>What {before} learned stays on this computer, and goes on when you choose it again. {model} begins as it came, or where it was left. Rounds count on.</source>
        <translation>Was {before} gelernt hat, bleibt auf diesem Computer und geht weiter, wenn du es wieder wählst. {model} beginnt, wie es kam, oder wo es stehen blieb. Die Runden zählen weiter.</translation>
    </message>
    <message>
        <source>Go on with {model}?</source>
        <translation>Mit {model} weitermachen?</translation>
    </message>
    <message>
        <source>Go on with it</source>
        <translation>Damit weitermachen</translation>
    </message>
    <message>
        <source>Remove {model}?</source>
        <translation>{model} entfernen?</translation>
    </message>
    <message>
        <source>{size} are deleted from this computer. It can be downloaded or imported again.</source>
        <translation>{size} werden von diesem Computer gelöscht. Es kann wieder heruntergeladen oder importiert werden.</translation>
    </message>
    <message>
        <source>A folder in transformers&apos; layout</source>
        <translation>Ein Ordner im Aufbau von transformers</translation>
    </message>
    <message>
        <source>A GGUF file</source>
        <translation>Eine GGUF-Datei</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>GGUF-Dateien (*.gguf)</translation>
    </message>
    <message>
        <source>Import a folder</source>
        <translation>Ordner importieren</translation>
    </message>
    <message>
        <source>Import a GGUF file</source>
        <translation>GGUF-Datei importieren</translation>
    </message>
    <message>
        <source>Another model of the hub</source>
        <translation>Anderes Modell vom Hub</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Memory now</source>
        <translation>Speicher jetzt</translation>
    </message>
    <message>
        <source>Free memory</source>
        <translation>Freier Speicher</translation>
    </message>
    <message>
        <source>Learned at once</source>
        <translation>Auf einmal gelernt</translation>
    </message>
    <message numerus="yes">
        <source>{way}, with %n thread(s).</source>
        <translation>
            <numerusform>{way}, mit %n Thread.</numerusform>
            <numerusform>{way}, mit %n Threads.</numerusform>
        </translation>
    </message>
    <message>
        <source>estimated: {size}</source>
        <translation>geschätzt: {size}</translation>
    </message>
    <message>
        <source>of this computer</source>
        <translation>dieses Computers</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation>GGUF-Datei</translation>
    </message>
    <message>
        <source>transformers</source>
        <translation>transformers</translation>
    </message>
    <message>
        <source>Answers only</source>
        <translation>Nur Antworten</translation>
    </message>
    <message>
        <source>Put one question to the model as it came and as it is now, and see what training has changed.</source>
        <translation>Stelle eine Frage dem Modell, wie es kam und wie es jetzt ist, und sieh, was das Training verändert hat.</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>The last {number} questions since this window was opened. Choose one to see its answers again.</source>
        <translation>Die letzten {number} Fragen, seit dieses Fenster offen ist. Wähle eine, um ihre Antworten wieder zu sehen.</translation>
    </message>
    <message>
        <source>Tried so far</source>
        <translation>Bisher ausprobiert</translation>
    </message>
    <message>
        <source>me</source>
        <translation>ich</translation>
    </message>
    <message>
        <source>As it came</source>
        <translation>Wie es kam</translation>
    </message>
    <message>
        <source>As it is now</source>
        <translation>Wie es jetzt ist</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>What you change takes effect at once, unless it says otherwise.</source>
        <translation>Was du änderst, gilt sofort, wenn nichts anderes dabeisteht.</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alle zurücksetzen</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>The node is not running just now: nothing can be changed.</source>
        <translation>Der Knoten läuft gerade nicht: Es kann nichts geändert werden.</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%n Einstellung</numerusform>
            <numerusform>%n Einstellungen</numerusform>
        </translation>
    </message>
    <message>
        <source>No setting has “{text}” in its name, its sentence or its key.</source>
        <translation>Keine Einstellung hat „{text}“ im Namen, im Satz oder im Schlüssel.</translation>
    </message>
    <message>
        <source>Nothing changed</source>
        <translation>Nichts geändert</translation>
    </message>
    <message>
        <source>Every setting is at its default.</source>
        <translation>Jede Einstellung hat ihren Standardwert.</translation>
    </message>
    <message>
        <source>Changed ({number})</source>
        <translation>Geändert ({number})</translation>
    </message>
    <message>
        <source>Publish answers?</source>
        <translation>Antworten veröffentlichen?</translation>
    </message>
    <message>
        <source>Publish from now on</source>
        <translation>Ab jetzt veröffentlichen</translation>
    </message>
    <message>
        <source>These go back to their defaults: {names}. What was learned, the history and the identity stay.</source>
        <translation>Diese gehen auf ihre Standardwerte zurück: {names}. Was gelernt wurde, der Verlauf und die Identität bleiben.</translation>
    </message>
    <message>
        <source>Reset all settings?</source>
        <translation>Alle Einstellungen zurücksetzen?</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>What the node said, and what it wrote down while it worked.</source>
        <translation>Was der Knoten gesagt hat und was er bei der Arbeit aufgeschrieben hat.</translation>
    </message>
    <message>
        <source>Diagnostics file</source>
        <translation>Diagnosedatei</translation>
    </message>
    <message>
        <source>What to show</source>
        <translation>Was gezeigt wird</translation>
    </message>
    <message>
        <source>Notices</source>
        <translation>Meldungen</translation>
    </message>
    <message>
        <source>Log file</source>
        <translation>Protokolldatei</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>Protokoll durchsuchen</translation>
    </message>
    <message>
        <source>Silo: no network at all. Nothing leaves this computer, and nothing comes in.</source>
        <translation>Silo: gar kein Netz. Nichts verlässt diesen Computer, und nichts kommt herein.</translation>
    </message>
    <message>
        <source>Silo</source>
        <translation>Silo</translation>
    </message>
    <message>
        <source>No network at all, effective at once</source>
        <translation>Gar kein Netz, sofort wirksam</translation>
    </message>
    <message>
        <source>Welcome to SAPO Desktop</source>
        <translation>Willkommen bei SAPO Desktop</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Step {number} of {count}</source>
        <translation>Schritt {number} von {count}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>The node is starting</source>
        <translation>Der Knoten startet</translation>
    </message>
    <message>
        <source>Start contributing</source>
        <translation>Jetzt mitmachen</translation>
    </message>
    <message>
        <source>Start learning</source>
        <translation>Jetzt lernen</translation>
    </message>
    <message>
        <source>Let this computer learn to reason</source>
        <translation>Lass diesen Computer logisch denken lernen</translation>
    </message>
    <message>
        <source>A small language model on your computer answers puzzles, marks its own answers and learns from them.</source>
        <translation>Ein kleines Sprachmodell auf deinem Computer beantwortet Rätselfragen, bewertet seine eigenen Antworten und lernt aus ihnen.</translation>
    </message>
    <message>
        <source>It runs here</source>
        <translation>Es läuft hier</translation>
    </message>
    <message>
        <source>Model, questions and marks are all on this computer. There is no account.</source>
        <translation>Modell, Fragen und Bewertungen sind alle auf diesem Computer. Ein Konto gibt es nicht.</translation>
    </message>
    <message>
        <source>It can learn with others</source>
        <translation>Es kann mit anderen lernen</translation>
    </message>
    <message>
        <source>Computers share answers as text, never weights or files, and each one checks every answer itself.</source>
        <translation>Computer teilen Antworten als Text, nie Gewichte oder Dateien, und jeder prüft jede Antwort selbst.</translation>
    </message>
    <message>
        <source>You are in charge</source>
        <translation>Du bestimmst</translation>
    </message>
    <message>
        <source>Pause at any time. It gives way to your other programs.</source>
        <translation>Pause ist jederzeit möglich. Deine anderen Programme haben Vorrang.</translation>
    </message>
    <message>
        <source>What leaves this computer</source>
        <translation>Was diesen Computer verlässt</translation>
    </message>
    <message>
        <source>Alone: nothing at all. With the swarm, if you share: messages like this, and nothing else of yours.</source>
        <translation>Allein: gar nichts. Mit dem Schwarm, wenn du teilst: Nachrichten wie diese, und sonst nichts von dir.</translation>
    </message>
    <message>
        <source>A message as it would be sent</source>
        <translation>Eine Nachricht, wie sie gesendet würde</translation>
    </message>
    <message>
        <source>The message is being made ...</source>
        <translation>Die Nachricht wird erstellt&#xa0;…</translation>
    </message>
    <message>
        <source>Who can see what</source>
        <translation>Wer was sehen kann</translation>
    </message>
    <message>
        <source>Whoever gets this message can read all of it: the key of this computer, a random number of this installation, the name of the task, the time in steps of ten minutes, and the answers.</source>
        <translation>Wer diese Nachricht bekommt, kann alles darin lesen: den Schlüssel dieses Computers, eine Zufallszahl dieser Installation, den Namen der Aufgabe, die Zeit in Schritten von zehn Minuten und die Antworten.</translation>
    </message>
    <message>
        <source>A relay, like every computer linked to, sees your internet address beside that key.</source>
        <translation>Ein Relay sieht, wie jeder verbundene Computer, deine Internetadresse neben diesem Schlüssel.</translation>
    </message>
    <message>
        <source>Not in it: the question&apos;s words, the right answer, the marks, your name, anything from your files.</source>
        <translation>Nicht darin: der Wortlaut der Frage, die richtige Antwort, die Bewertungen, dein Name und alles aus deinen Dateien.</translation>
    </message>
    <message>
        <source>A real message of {size}. Nothing was sent.</source>
        <translation>Eine echte Nachricht von {size}. Nichts wurde gesendet.</translation>
    </message>
    <message>
        <source>A real message of {size}, signed with a key that was thrown away. Nothing was sent.</source>
        <translation>Eine echte Nachricht von {size}, signiert mit einem Schlüssel, der weggeworfen wurde. Nichts wurde gesendet.</translation>
    </message>
    <message>
        <source>The message cannot be shown now: {reason}</source>
        <translation>Die Nachricht kann gerade nicht gezeigt werden: {reason}</translation>
    </message>
    <message>
        <source>How gentle should it be?</source>
        <translation>Wie schonend soll es sein?</translation>
    </message>
    <message numerus="yes">
        <source>This computer has %n core(s). All of this can be changed at any time.</source>
        <translation>
            <numerusform>Dieser Computer hat %n Kern. All das lässt sich jederzeit ändern.</numerusform>
            <numerusform>Dieser Computer hat %n Kerne. All das lässt sich jederzeit ändern.</numerusform>
        </translation>
    </message>
    <message>
        <source>Barely there</source>
        <translation>Kaum zu merken</translation>
    </message>
    <message>
        <source>a quarter of the cores</source>
        <translation>ein Viertel der Kerne</translation>
    </message>
    <message>
        <source>Alone. No network at all.</source>
        <translation>Allein. Gar kein Netz.</translation>
    </message>
    <message>
        <source>Swarm</source>
        <translation>Schwarm</translation>
    </message>
    <message>
        <source>Learn from the answers of other computers too.</source>
        <translation>Auch aus den Antworten anderer Computer lernen.</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Schonend</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>Server elsewhere</source>
        <translation>Server anderswo</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>How this window looks, and what closing it means.</source>
        <translation>Wie dieses Fenster aussieht und was Schließen bedeutet.</translation>
    </message>
    <message>
        <source>How much of this computer the node takes.</source>
        <translation>Wie viel von diesem Computer der Knoten nimmt.</translation>
    </message>
    <message>
        <source>Who the node talks to, and what it says.</source>
        <translation>Mit wem der Knoten spricht und was er sagt.</translation>
    </message>
    <message>
        <source>What is asked, what counts, and how the model changes. The defaults are what was tried most.</source>
        <translation>Was gefragt wird, was zählt und wie sich das Modell ändert. Die Standardwerte sind das, was am meisten erprobt ist.</translation>
    </message>
    <message>
        <source>Which model learns, and what computes.</source>
        <translation>Welches Modell lernt und was rechnet.</translation>
    </message>
    <message>
        <source>Answers from a server of yours, with `generator` set to it. Training stays here.</source>
        <translation>Antworten von einem Server von dir, wenn `generator` auf ihn gestellt ist. Das Training bleibt hier.</translation>
    </message>
    <message>
        <source>Where models come from and are kept, and how much is written.</source>
        <translation>Woher Modelle kommen, wo sie liegen und wie viel geschrieben wird.</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Textgröße</translation>
    </message>
    <message>
        <source>Close to the tray</source>
        <translation>In den Infobereich schließen</translation>
    </message>
    <message>
        <source>When the window goes away</source>
        <translation>Wenn das Fenster verschwindet</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Low priority</source>
        <translation>Niedrige Priorität</translation>
    </message>
    <message>
        <source>On battery</source>
        <translation>Auf Akku</translation>
    </message>
    <message>
        <source>Memory left free</source>
        <translation>Frei bleibender Speicher</translation>
    </message>
    <message>
        <source>Share answers</source>
        <translation>Antworten teilen</translation>
    </message>
    <message>
        <source>Label</source>
        <translation>Beiname</translation>
    </message>
    <message>
        <source>Seed list</source>
        <translation>Startliste</translation>
    </message>
    <message>
        <source>Local network</source>
        <translation>Lokales Netz</translation>
    </message>
    <message>
        <source>Private addresses</source>
        <translation>Private Adressen</translation>
    </message>
    <message>
        <source>Blocked peers</source>
        <translation>Gesperrte Peers</translation>
    </message>
    <message>
        <source>Listen at</source>
        <translation>Verbindungen annehmen</translation>
    </message>
    <message>
        <source>Announced address</source>
        <translation>Angesagte Adresse</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>Admission</source>
        <translation>Aufnahme</translation>
    </message>
    <message>
        <source>Weight of peers&apos; answers</source>
        <translation>Gewicht fremder Antworten</translation>
    </message>
    <message>
        <source>Answers to a question</source>
        <translation>Antworten auf eine Frage</translation>
    </message>
    <message>
        <source>Questions in a step</source>
        <translation>Fragen in einem Schritt</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>Belohnung</translation>
    </message>
    <message>
        <source>Held-out questions every</source>
        <translation>Zurückgehaltene Fragen alle</translation>
    </message>
    <message>
        <source>What is trained</source>
        <translation>Was trainiert wird</translation>
    </message>
    <message>
        <source>Adapter&apos;s rank</source>
        <translation>Rang des Adapters</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Learning rate&apos;s half-life</source>
        <translation>Halbwertszeit der Lernrate</translation>
    </message>
    <message>
        <source>Pull to the base model</source>
        <translation>Zug zum Ausgangsmodell</translation>
    </message>
    <message>
        <source>Steps in a round</source>
        <translation>Schritte in einer Runde</translation>
    </message>
    <message>
        <source>Answers at once</source>
        <translation>Antworten auf einmal</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>What answers</source>
        <translation>Was antwortet</translation>
    </message>
    <message>
        <source>Weights for answering</source>
        <translation>Gewichte zum Antworten</translation>
    </message>
    <message>
        <source>What learns</source>
        <translation>Was lernt</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Server&apos;s address</source>
        <translation>Adresse des Servers</translation>
    </message>
    <message>
        <source>Server&apos;s model</source>
        <translation>Modell des Servers</translation>
    </message>
    <message>
        <source>Folder for what is learned</source>
        <translation>Ordner für Gelerntes</translation>
    </message>
    <message>
        <source>Key over plain http</source>
        <translation>Schlüssel über bloßes http</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>Ordner der Modelle</translation>
    </message>
    <message>
        <source>Source of models</source>
        <translation>Quelle der Modelle</translation>
    </message>
    <message>
        <source>Checkpoints kept</source>
        <translation>Behaltene Checkpoints</translation>
    </message>
    <message>
        <source>Written in a day</source>
        <translation>Geschrieben an einem Tag</translation>
    </message>
    <message>
        <source>The window&apos;s language; auto: the system&apos;s, where it has it.</source>
        <translation>Die Sprache des Fensters; „Wie das System“: dessen Sprache, wo das Fenster sie kann.</translation>
    </message>
    <message>
        <source>The window&apos;s colours; system: as the desktop&apos;s.</source>
        <translation>Die Farben des Fensters; „Wie das System“: die der Arbeitsfläche.</translation>
    </message>
    <message>
        <source>The window&apos;s text size in percent.</source>
        <translation>Die Textgröße des Fensters in Prozent.</translation>
    </message>
    <message>
        <source>Closing the window leaves it in the tray, where there is one; else it is minimised.</source>
        <translation>Schließen lässt das Fenster im Infobereich, wo es einen gibt; sonst wird es minimiert.</translation>
    </message>
    <message>
        <source>What the worker does when the window or terminal that started it goes away.</source>
        <translation>Was der Arbeitsprozess tut, wenn das Fenster oder Terminal verschwindet, das ihn gestartet hat.</translation>
    </message>
    <message>
        <source>Threads for computing; 0: half the cores.</source>
        <translation>Threads zum Rechnen; 0: die Hälfte der Kerne.</translation>
    </message>
    <message>
        <source>Give way to every other program.</source>
        <translation>Jedem anderen Programm den Vortritt lassen.</translation>
    </message>
    <message>
        <source>What a working node does when the computer loses its power supply.</source>
        <translation>Was ein arbeitender Knoten tut, wenn der Computer seine Stromversorgung verliert.</translation>
    </message>
    <message>
        <source>GB of free memory that this node leaves to other programs.</source>
        <translation>GB freier Speicher, die dieser Knoten anderen Programmen lässt.</translation>
    </message>
    <message>
        <source>No network at all.</source>
        <translation>Gar kein Netz.</translation>
    </message>
    <message>
        <source>Publish own answers to the swarm: under CC0, for everybody, not to be called back.</source>
        <translation>Eigene Antworten dem Schwarm veröffentlichen: unter CC0, für alle, nicht zurückzuholen.</translation>
    </message>
    <message>
        <source>A name that stands beside shared answers; no secret.</source>
        <translation>Ein Name, der neben geteilten Antworten steht; kein Geheimnis.</translation>
    </message>
    <message>
        <source>Begin with the seed list of this release, in the swarm.</source>
        <translation>Im Schwarm mit der Startliste dieser Version beginnen.</translation>
    </message>
    <message>
        <source>Find nodes on the local network, and show this one there.</source>
        <translation>Knoten im lokalen Netz finden und diesen dort zeigen.</translation>
    </message>
    <message>
        <source>Take loopback and home addresses for as good as public ones: a swarm in one house.</source>
        <translation>Loopback- und Heimnetzadressen gelten so viel wie öffentliche: ein Schwarm in einem Haus.</translation>
    </message>
    <message>
        <source>Peers to keep links to, by comma: wss://HOST:PORT#KEY.</source>
        <translation>Peers, zu denen Verbindungen gehalten werden, mit Komma getrennt: wss://HOST:PORT#KEY.</translation>
    </message>
    <message>
        <source>Keys of peers to have nothing to do with, by comma.</source>
        <translation>Schlüssel von Peers, mit denen nichts zu tun sein soll, mit Komma getrennt.</translation>
    </message>
    <message>
        <source>HOST:PORT to take links at; empty: this node only dials.</source>
        <translation>HOST:PORT, an dem Verbindungen angenommen werden; leer: Dieser Knoten wählt nur andere an.</translation>
    </message>
    <message>
        <source>Address to tell other peers, wss://HOST:PORT, so that they dial this node.</source>
        <translation>Adresse, die anderen Peers genannt wird, wss://HOST:PORT, damit sie diesen Knoten anwählen.</translation>
    </message>
    <message>
        <source>Proxy for links to peers: http:// or socks5h://; empty: the environment&apos;s; off: none.</source>
        <translation>Proxy für Verbindungen zu Peers: http:// oder socks5h://; leer: der aus der Umgebung; „off“: keiner.</translation>
    </message>
    <message>
        <source>Admission key of the private swarm to be in; empty: the public one. Set by peers join, found.</source>
        <translation>Aufnahmeschlüssel des privaten Schwarms, in dem der Knoten sein soll; leer: der öffentliche. Gesetzt von „peers join“, „found“.</translation>
    </message>
    <message>
        <source>What admits this node&apos;s key to the private swarm. Set by peers join.</source>
        <translation>Was den Schlüssel dieses Knotens in den privaten Schwarm aufnimmt. Gesetzt von „peers join“.</translation>
    </message>
    <message>
        <source>Families to train on, with or without a level, by comma; &apos;all&apos; for every family.</source>
        <translation>Familien, die trainiert werden, mit oder ohne Stufe, mit Komma getrennt; „all“ für jede Familie.</translation>
    </message>
    <message>
        <source>Move each task up above 70% solved and down below 20%.</source>
        <translation>Jede Aufgabe rückt höher, wenn mehr als 70&#xa0;% gelöst sind, und tiefer, wenn es weniger als 20&#xa0;% sind.</translation>
    </message>
    <message>
        <source>Own groups / external groups per step, scaled to its size; in silo all are own.</source>
        <translation>Eigene / fremde Gruppen je Schritt, auf seine Größe umgerechnet; im Silo sind alle eigene.</translation>
    </message>
    <message>
        <source>How external groups are weighed: guarded learns from right answers only, paper from all.</source>
        <translation>Wie fremde Gruppen gewichtet werden: „Vorsichtig“ lernt nur aus richtigen Antworten, „Wie im Fachartikel“ aus allen.</translation>
    </message>
    <message>
        <source>Answers per question (L).</source>
        <translation>Antworten je Frage (L).</translation>
    </message>
    <message>
        <source>Groups in a training step (I + J); 0: the model&apos;s recommended number.</source>
        <translation>Gruppen in einem Trainingsschritt (I + J); 0: so viele, wie für das Modell empfohlen.</translation>
    </message>
    <message>
        <source>Longest answer in tokens.</source>
        <translation>Längste Antwort in Tokens.</translation>
    </message>
    <message>
        <source>Sampling temperature while training.</source>
        <translation>Temperatur beim Ziehen von Antworten im Training.</translation>
    </message>
    <message>
        <source>strict: 1 if solved, else 0. partial: the marker&apos;s own score.</source>
        <translation>„Richtig oder nicht“: 1, wenn gelöst, sonst 0. „Punkte der Bewertung“: was das Bewertungsprogramm selbst gibt.</translation>
    </message>
    <message>
        <source>Rounds between validation scores; 0: none (no guard, no best checkpoint).</source>
        <translation>Runden zwischen zwei Prüfwerten (Validierung); 0: keine (kein Wächter, kein bester Checkpoint).</translation>
    </message>
    <message>
        <source>Train a LoRA adapter, or all weights (tiny models).</source>
        <translation>Einen LoRA-Adapter trainieren oder alle Gewichte (winzige Modelle).</translation>
    </message>
    <message>
        <source>Rank of the adapter.</source>
        <translation>Rang des Adapters.</translation>
    </message>
    <message>
        <source>Adam&apos;s learning rate; 0: the model&apos;s recommended one.</source>
        <translation>Lernrate von Adam; 0: die für das Modell empfohlene.</translation>
    </message>
    <message>
        <source>Rounds until the learning rate is half; a tenth is the least. 0: the model&apos;s recommended.</source>
        <translation>Runden, bis die Lernrate halb so groß ist; ein Zehntel ist das Mindeste. 0: wie für das Modell empfohlen.</translation>
    </message>
    <message>
        <source>Weight of the KL term to the base model.</source>
        <translation>Gewicht des KL-Terms zum Ausgangsmodell.</translation>
    </message>
    <message>
        <source>Optimiser steps per round.</source>
        <translation>Optimierungsschritte je Runde.</translation>
    </message>
    <message>
        <source>Answers per forward pass; memory and time only.</source>
        <translation>Antworten in einem Durchgang; betrifft nur Speicher und Zeit.</translation>
    </message>
    <message>
        <source>Repeats a silo run exactly; 0 draws one at first start.</source>
        <translation>Wiederholt einen Silo-Lauf genau; 0 zieht beim ersten Start einen.</translation>
    </message>
    <message>
        <source>&apos;starter&apos;, an installed model&apos;s name, a transformers folder, or a GGUF file (only answers).</source>
        <translation>„starter“, der Name eines installierten Modells, ein transformers-Ordner oder eine GGUF-Datei (antwortet nur).</translation>
    </message>
    <message>
        <source>What answers: torch, as it learns; llama.cpp beside it; remote: the server at remote_url; auto: torch where it learns, else llama.cpp.</source>
        <translation>Was antwortet: torch, wie beim Lernen; llama.cpp daneben; „Server anderswo“: der Server unter remote_url; „automatisch“: torch, wo es lernt, sonst llama.cpp.</translation>
    </message>
    <message>
        <source>Number format of the weights that llama.cpp answers with, where they are converted here; auto: q8_0, from a billion parameters on q4_k_m.</source>
        <translation>Zahlenformat der Gewichte, mit denen llama.cpp antwortet, wo sie hier umgewandelt werden; „automatisch“: q8_0, ab einer Milliarde Parametern q4_k_m.</translation>
    </message>
    <message>
        <source>What learns. none: answers only; auto: torch, and none of a GGUF file or where only answering fits into memory.</source>
        <translation>Was lernt. „nichts“: nur Antworten; „automatisch“: torch, und nichts bei einer GGUF-Datei oder wo nur das Antworten in den Speicher passt.</translation>
    </message>
    <message>
        <source>Where torch computes.</source>
        <translation>Wo torch rechnet.</translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s protocol that answers, not in silo: http://HOST:PORT.</source>
        <translation>Ein Server mit dem Protokoll von OpenAI, der antwortet, nicht im Silo: http://HOST:PORT.</translation>
    </message>
    <message>
        <source>That server&apos;s name of the model; empty: the one it has.</source>
        <translation>Wie das Modell auf diesem Server heißt; leer: das, das er hat.</translation>
    </message>
    <message>
        <source>A folder that the server sees under the same path, for what is learned; empty: answers only.</source>
        <translation>Ein Ordner für Gelerntes, den der Server unter demselben Pfad sieht; leer: nur Antworten.</translation>
    </message>
    <message>
        <source>Send the server&apos;s key over plain http:// to another machine too, where it can be read.</source>
        <translation>Den Schlüssel des Servers auch an einen anderen Rechner über bloßes http:// senden, wo er mitgelesen werden kann.</translation>
    </message>
    <message>
        <source>Where models are kept: a folder&apos;s full path; empty: one that all this user&apos;s nodes share.</source>
        <translation>Wo Modelle liegen: der volle Pfad eines Ordners; leer: einer, den alle Knoten dieses Benutzers teilen.</translation>
    </message>
    <message>
        <source>Where models come from: a mirror&apos;s address; empty: HF_ENDPOINT&apos;s, else the public hub.</source>
        <translation>Woher Modelle kommen: die Adresse eines Spiegels; leer: die aus HF_ENDPOINT, sonst der öffentliche Hub.</translation>
    </message>
    <message>
        <source>Checkpoints kept beside base and best.</source>
        <translation>Checkpoints, die neben „base“ und „best“ behalten werden.</translation>
    </message>
    <message>
        <source>Most that checkpoints may write a day, in GB.</source>
        <translation>Wie viel Checkpoints höchstens am Tag schreiben dürfen, in GB.</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>adaptive</source>
        <translation>adaptiv</translation>
    </message>
    <message>
        <source>Right or not</source>
        <translation>Richtig oder nicht</translation>
    </message>
    <message>
        <source>The marker&apos;s score</source>
        <translation>Punkte der Bewertung</translation>
    </message>
    <message>
        <source>LoRA adapter</source>
        <translation>LoRA-Adapter</translation>
    </message>
    <message>
        <source>All weights</source>
        <translation>Alle Gewichte</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <source>server elsewhere</source>
        <translation>Server anderswo</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>half the cores</source>
        <translation>die Hälfte der Kerne</translation>
    </message>
    <message>
        <source>as the model&apos;s</source>
        <translation>wie für das Modell</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> Tokens</translation>
    </message>
    <message>
        <source> rounds</source>
        <translation> Runden</translation>
    </message>
    <message>
        <source>Diligent</source>
        <translation>Fleißig</translation>
    </message>
    <message>
        <source>all cores but one</source>
        <translation>alle Kerne bis auf einen</translation>
    </message>
    <message>
        <source>Give way to every other program</source>
        <translation>Jedem anderen Programm den Vortritt lassen</translation>
    </message>
    <message>
        <source>Pause on battery</source>
        <translation>Auf Akku pausieren</translation>
    </message>
    <message>
        <source>Alone or with others?</source>
        <translation>Allein oder mit anderen?</translation>
    </message>
    <message>
        <source>One switch changes it later, within a second.</source>
        <translation>Ein Schalter ändert es später, innerhalb einer Sekunde.</translation>
    </message>
    <message>
        <source>Share my model&apos;s answers too (public domain)</source>
        <translation>Auch die Antworten meines Modells teilen (gemeinfrei)</translation>
    </message>
    <message>
        <source>This node</source>
        <translation>Dieser Knoten</translation>
    </message>
    <message>
        <source>Others know it by its key. There is no name and no account.</source>
        <translation>Andere kennen ihn an seinem Schlüssel. Namen und Konto gibt es nicht.</translation>
    </message>
    <message>
        <source>My key</source>
        <translation>Mein Schlüssel</translation>
    </message>
    <message>
        <source>Copy my key</source>
        <translation>Meinen Schlüssel kopieren</translation>
    </message>
    <message>
        <source>My address</source>
        <translation>Meine Adresse</translation>
    </message>
    <message>
        <source>Copy my address</source>
        <translation>Meine Adresse kopieren</translation>
    </message>
    <message>
        <source>Open it</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Keep it behind a passphrase</source>
        <translation>Mit einer Passphrase verschließen</translation>
    </message>
    <message>
        <source>It is in a file that your passphrase closes. Open it to join the swarm.</source>
        <translation>Er liegt in einer Datei, die deine Passphrase verschließt. Öffne sie, um dem Schwarm beizutreten.</translation>
    </message>
    <message>
        <source>The key is kept in a file that this passphrase closes. Without it nobody can open the file again.</source>
        <translation>Der Schlüssel liegt in einer Datei, die diese Passphrase verschließt. Ohne sie kann niemand die Datei wieder öffnen.</translation>
    </message>
    <message>
        <source>It opens the file with this node&apos;s key.</source>
        <translation>Sie öffnet die Datei mit dem Schlüssel dieses Knotens.</translation>
    </message>
    <message>
        <source>This node&apos;s key</source>
        <translation>Der Schlüssel dieses Knotens</translation>
    </message>
    <message>
        <source>It listens: others can link to it.</source>
        <translation>Er nimmt Verbindungen an: Andere können sich mit ihm verbinden.</translation>
    </message>
    <message>
        <source>It listens nowhere: it dials others, and none can dial it.</source>
        <translation>Er nimmt keine Verbindungen an: Er wählt andere an, und niemand kann ihn anwählen.</translation>
    </message>
    <message>
        <source>Share this node&apos;s answers</source>
        <translation>Die Antworten dieses Knotens teilen</translation>
    </message>
    <message>
        <source>What is published</source>
        <translation>Was veröffentlicht wird</translation>
    </message>
    <message>
        <source>Whoever this node links to sees its internet address beside its key, shared or not.</source>
        <translation>Alle, mit denen sich dieser Knoten verbindet, sehen seine Internetadresse neben seinem Schlüssel, ob geteilt wird oder nicht.</translation>
    </message>
    <message>
        <source>Published for good, in the public domain (CC0).</source>
        <translation>Für immer veröffentlicht und gemeinfrei (CC0).</translation>
    </message>
    <message>
        <source>Nothing leaves in silo.</source>
        <translation>Im Silo verlässt nichts diesen Computer.</translation>
    </message>
    <message>
        <source>Nothing is shared. This node draws others&apos; answers and learns from them.</source>
        <translation>Nichts wird geteilt. Dieser Knoten zieht die Antworten anderer und lernt aus ihnen.</translation>
    </message>
    <message>
        <source>Publish answers from now on</source>
        <translation>Antworten ab jetzt veröffentlichen</translation>
    </message>
    <message>
        <source>Address or invite link, if somebody gave you one</source>
        <translation>Adresse oder Einladungslink, falls du so etwas bekommen hast</translation>
    </message>
    <message>
        <source>Kept addresses</source>
        <translation>Behaltene Adressen</translation>
    </message>
    <message>
        <source>This node keeps links to these, besides those that it finds.</source>
        <translation>Zu diesen hält dieser Knoten Verbindungen, neben denen, die er findet.</translation>
    </message>
    <message>
        <source>An address is like wss://relay.example:8765</source>
        <translation>Eine Adresse sieht so aus: wss://relay.example:8765</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Gesperrt</translation>
    </message>
    <message>
        <source>This node has nothing to do with these keys.</source>
        <translation>Mit diesen Schlüsseln hat dieser Knoten nichts zu tun.</translation>
    </message>
    <message>
        <source>Nobody is blocked</source>
        <translation>Niemand ist gesperrt</translation>
    </message>
    <message>
        <source>A peer is blocked from the list of links.</source>
        <translation>Gesperrt wird ein Peer in der Liste der Verbindungen.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Unblock</source>
        <translation>Entsperren</translation>
    </message>
    <message>
        <source>An address that somebody runs a node or relay at, or an invite link of a private swarm.</source>
        <translation>Eine Adresse, unter der jemand einen Knoten oder ein Relay betreibt, oder ein Einladungslink eines privaten Schwarms.</translation>
    </message>
    <message>
        <source>Test the connection</source>
        <translation>Verbindung prüfen</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>With #KEY at its end only that node is accepted there. An invite begins with sapo://</source>
        <translation>Mit #KEY am Ende wird dort nur dieser Knoten angenommen. Eine Einladung beginnt mit sapo://</translation>
    </message>
    <message>
        <source>Address or invite link</source>
        <translation>Adresse oder Einladungslink</translation>
    </message>
    <message>
        <source>Go there</source>
        <translation>Dorthin gehen</translation>
    </message>
    <message>
        <source>This node goes to the private swarm {key}.</source>
        <translation>Dieser Knoten geht in den privaten Schwarm {key}.</translation>
    </message>
    <message>
        <source>Tell its founder the key of this node, so that it is let in.</source>
        <translation>Nenne der Person, die ihn gegründet hat, den Schlüssel dieses Knotens, damit er hineingelassen wird.</translation>
    </message>
    <message>
        <source>{program} answers there in {latency}, with key {key}</source>
        <translation>{program} antwortet dort in {latency}, mit Schlüssel {key}</translation>
    </message>
    <message>
        <source>A node</source>
        <translation>Ein Knoten</translation>
    </message>
    <message>
        <source>Dialling {address}</source>
        <translation>{address} wird angewählt</translation>
    </message>
    <message numerus="yes">
        <source>It leads to the private swarm {key}, by %n address(es).</source>
        <translation>
            <numerusform>Er führt in den privaten Schwarm {key}, über %n Adresse.</numerusform>
            <numerusform>Er führt in den privaten Schwarm {key}, über %n Adressen.</numerusform>
        </translation>
    </message>
    <message>
        <source>It admits one key; this node&apos;s, if it was made for it.</source>
        <translation>Er nimmt einen Schlüssel auf; den dieses Knotens, wenn er für ihn gemacht wurde.</translation>
    </message>
    <message>
        <source>It admits nobody: its founder has to admit this node&apos;s key.</source>
        <translation>Er nimmt niemanden auf: Wer den Schwarm gegründet hat, muss den Schlüssel dieses Knotens aufnehmen.</translation>
    </message>
    <message>
        <source>Addresses of the swarm that this node is in now are given up.</source>
        <translation>Adressen des Schwarms, in dem dieser Knoten jetzt ist, werden aufgegeben.</translation>
    </message>
    <message>
        <source>The model that comes with the app is ready at once.</source>
        <translation>Das Modell, das mit dem Programm kommt, ist sofort bereit.</translation>
    </message>
    <message>
        <source>It takes {size} of memory.</source>
        <translation>Es braucht {size} Speicher.</translation>
    </message>
    <message>
        <source>{model} would fit this computer too: the page Model downloads it when you like.</source>
        <translation>Auch {model} würde auf diesen Computer passen: Die Seite „Modell“ lädt es herunter, wenn du magst.</translation>
    </message>
    <message>
        <source>Starting the node again</source>
        <translation>Der Knoten wird wieder gestartet</translation>
    </message>
    <message>
        <source>Starting the node</source>
        <translation>Der Knoten wird gestartet</translation>
    </message>
    <message>
        <source>The node stopped: {reason} It is started again by itself.</source>
        <translation>Der Knoten ist stehen geblieben: {reason} Er wird von selbst wieder gestartet.</translation>
    </message>
    <message>
        <source>The node was ended. Nothing is computed.</source>
        <translation>Der Knoten wurde beendet. Nichts wird berechnet.</translation>
    </message>
    <message>
        <source>Starting again after a failure</source>
        <translation>Neuer Start nach einem Fehler</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>Ready. Nothing is computed until you say so.</source>
        <translation>Bereit. Nichts wird berechnet, bis du es sagst.</translation>
    </message>
    <message>
        <source>Training round {round}, alone</source>
        <translation>Trainiert Runde {round}, allein</translation>
    </message>
    <message numerus="yes">
        <source>Training round {round}, %n peer(s)</source>
        <translation>
            <numerusform>Trainiert Runde {round}, %n Peer</numerusform>
            <numerusform>Trainiert Runde {round}, %n Peers</numerusform>
        </translation>
    </message>
    <message>
        <source>Answering round {round}; nothing is trained, since the model can only answer here</source>
        <translation>Beantwortet Runde {round}; trainiert wird nichts, weil das Modell hier nur antworten kann</translation>
    </message>
    <message>
        <source>Finishing round {round}, then pausing</source>
        <translation>Beendet Runde {round}, dann Pause</translation>
    </message>
    <message>
        <source>Paused by you</source>
        <translation>Von dir pausiert</translation>
    </message>
    <message>
        <source>Paused by you until {time}</source>
        <translation>Von dir pausiert bis {time}</translation>
    </message>
    <message>
        <source>Paused after round {round}, as you asked</source>
        <translation>Pausiert nach Runde {round}, wie du es wolltest</translation>
    </message>
    <message>
        <source>Paused: on battery</source>
        <translation>Pausiert: auf Akku</translation>
    </message>
    <message>
        <source>Done: round {round} was the last one ordered</source>
        <translation>Fertig: Runde {round} war die letzte bestellte</translation>
    </message>
    <message numerus="yes">
        <source>Stopped after %n failure(s) in a row: {reason}</source>
        <translation>
            <numerusform>Stehen geblieben nach %n Fehler: {reason}</numerusform>
            <numerusform>Stehen geblieben nach %n Fehlern in Folge: {reason}</numerusform>
        </translation>
    </message>
    <message>
        <source>Ending</source>
        <translation>Wird beendet</translation>
    </message>
    <message>
        <source>Learn alone</source>
        <translation>Allein lernen</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Mitmachen</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Go on despite battery</source>
        <translation>Trotz Akku weiter</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <source>Answer a question yourself</source>
        <translation>Beantworte selbst eine Frage</translation>
    </message>
    <message>
        <source>Your answer is marked like the model&apos;s, and the model learns from it. It is said before you give it where it goes.</source>
        <translation>Deine Antwort wird bewertet wie die des Modells, und das Modell lernt aus ihr. Bevor du sie gibst, wird gesagt, wohin sie geht.</translation>
    </message>
    <message>
        <source>Answer a question</source>
        <translation>Eine Frage beantworten</translation>
    </message>
    <message>
        <source>Ask me a question</source>
        <translation>Stell mir eine Frage</translation>
    </message>
    <message>
        <source>Setting a question</source>
        <translation>Eine Frage wird gestellt</translation>
    </message>
    <message>
        <source>The question</source>
        <translation>Die Frage</translation>
    </message>
    <message>
        <source>Your answer</source>
        <translation>Deine Antwort</translation>
    </message>
    <message>
        <source>Your reasoning, if you like</source>
        <translation>Deine Überlegung, wenn du magst</translation>
    </message>
    <message>
        <source>Another question</source>
        <translation>Andere Frage</translation>
    </message>
    <message>
        <source>Give the answer</source>
        <translation>Antwort geben</translation>
    </message>
    <message>
        <source>One moment</source>
        <translation>Einen Moment</translation>
    </message>
    <message>
        <source>The answer is {form}.</source>
        <translation>Form der Antwort: {form}.</translation>
    </message>
    <message>
        <source>Publish the answer</source>
        <translation>Antwort veröffentlichen</translation>
    </message>
    <message>
        <source>{task}, {time} left</source>
        <translation>{task}, noch {time}</translation>
    </message>
    <message>
        <source>The time for this question is over. Ask for another one.</source>
        <translation>Die Zeit für diese Frage ist um. Lass dir eine andere stellen.</translation>
    </message>
    <message>
        <source>Marking, and letting the model answer too</source>
        <translation>Wird bewertet, und auch das Modell antwortet</translation>
    </message>
    <message>
        <source>The right answer</source>
        <translation>Die richtige Antwort</translation>
    </message>
    <message>
        <source>It was published.</source>
        <translation>Sie wurde veröffentlicht.</translation>
    </message>
    <message>
        <source>It was not published.</source>
        <translation>Sie wurde nicht veröffentlicht.</translation>
    </message>
    <message>
        <source>The model learns from it in one of its next rounds.</source>
        <translation>Das Modell lernt aus ihr in einer seiner nächsten Runden.</translation>
    </message>
    <message>
        <source>The model did not answer beside you.</source>
        <translation>Das Modell hat neben dir nicht geantwortet.</translation>
    </message>
    <message numerus="yes">
        <source>The model answered beside you: {right} of %n right.</source>
        <translation>
            <numerusform>Das Modell hat neben dir geantwortet: {right} von %n richtig.</numerusform>
            <numerusform>Das Modell hat neben dir geantwortet: {right} von %n richtig.</numerusform>
        </translation>
    </message>
    <message>
        <source>Let the model learn on this computer. No network is used.</source>
        <translation>Lass das Modell auf diesem Computer lernen. Es wird kein Netz benutzt.</translation>
    </message>
    <message>
        <source>Let the model learn on this computer, with its peers.</source>
        <translation>Lass das Modell auf diesem Computer lernen, mit seinen Peers.</translation>
    </message>
    <message>
        <source>End the pause.</source>
        <translation>Die Pause beenden.</translation>
    </message>
    <message>
        <source>Stop computing at once. The round in hand is kept and goes on later.</source>
        <translation>Sofort aufhören zu rechnen. Die laufende Runde bleibt erhalten und geht später weiter.</translation>
    </message>
    <message>
        <source>Start the node.</source>
        <translation>Den Knoten starten.</translation>
    </message>
    <message>
        <source>The node is being started or ended.</source>
        <translation>Der Knoten wird gerade gestartet oder beendet.</translation>
    </message>
    <message>
        <source>{number} billion</source>
        <translation>{number} Milliarden</translation>
    </message>
    <message>
        <source>{number} million</source>
        <translation>{number} Millionen</translation>
    </message>
    <message>
        <source>llama.cpp answers ({format}), nothing learns</source>
        <translation>llama.cpp antwortet ({format}), nichts lernt</translation>
    </message>
    <message>
        <source>torch answers and learns</source>
        <translation>torch antwortet und lernt</translation>
    </message>
    <message>
        <source>llama.cpp answers ({format}), torch learns</source>
        <translation>llama.cpp antwortet ({format}), torch lernt</translation>
    </message>
    <message>
        <source>a server answers, torch learns</source>
        <translation>ein Server antwortet, torch lernt</translation>
    </message>
    <message>
        <source>on the card</source>
        <translation>auf der Grafikkarte</translation>
    </message>
    <message>
        <source>on the Mac&apos;s graphics</source>
        <translation>auf der Grafik des Mac</translation>
    </message>
    <message>
        <source>answers only</source>
        <translation>nur Antworten</translation>
    </message>
    <message>
        <source>torch</source>
        <translation>torch</translation>
    </message>
    <message>
        <source>llama.cpp + torch</source>
        <translation>llama.cpp + torch</translation>
    </message>
    <message>
        <source>server + torch</source>
        <translation>Server + torch</translation>
    </message>
    <message>
        <source>torch answers</source>
        <translation>torch antwortet</translation>
    </message>
    <message>
        <source>llama.cpp answers</source>
        <translation>llama.cpp antwortet</translation>
    </message>
    <message>
        <source>a server answers</source>
        <translation>ein Server antwortet</translation>
    </message>
    <message>
        <source>torch learns</source>
        <translation>torch lernt</translation>
    </message>
    <message>
        <source>nothing is learned</source>
        <translation>gelernt wird nichts</translation>
    </message>
    <message>
        <source>on the processor</source>
        <translation>auf dem Prozessor</translation>
    </message>
    <message>
        <source>the model itself</source>
        <translation>das Modell selbst</translation>
    </message>
    <message>
        <source>what is learned</source>
        <translation>das Gelernte</translation>
    </message>
    <message>
        <source>computing</source>
        <translation>das Rechnen</translation>
    </message>
    <message>
        <source>answers under way</source>
        <translation>laufende Antworten</translation>
    </message>
    <message>
        <source>the program</source>
        <translation>das Programm</translation>
    </message>
    <message>
        <source>left to others</source>
        <translation>für andere frei</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>Logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>Programs and libraries</source>
        <translation>Programme und Bibliotheken</translation>
    </message>
    <message>
        <source>Left to other programs</source>
        <translation>Für andere Programme frei</translation>
    </message>
    <message>
        <source>In all</source>
        <translation>Insgesamt</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Tight</source>
        <translation>Knapp</translation>
    </message>
    <message>
        <source>Too big</source>
        <translation>Zu groß</translation>
    </message>
    <message>
        <source>To learn it takes {needs}; {free} are free. It can answer here.</source>
        <translation>Zum Lernen braucht es {needs}; {free} sind frei. Antworten kann es hier.</translation>
    </message>
    <message>
        <source>To learn it takes {needs}; {free} are free.</source>
        <translation>Zum Lernen braucht es {needs}; {free} sind frei.</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Bei der Arbeit</translation>
    </message>
    <message>
        <source>Once this round is done</source>
        <translation>Nach dieser Runde</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Computer</translation>
    </message>
    <message>
        <source>Unfinished</source>
        <translation>Unvollständig</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>Beschädigt</translation>
    </message>
    <message>
        <source>To download</source>
        <translation>Zum Herunterladen</translation>
    </message>
    <message>
        <source>Asking the hub</source>
        <translation>Fragt den Hub</translation>
    </message>
    <message>
        <source>Checking what is here</source>
        <translation>Prüft, was da ist</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>Lädt herunter</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Copying</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Schließt ab</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>{span} left</source>
        <translation>noch {span}</translation>
    </message>
    <message>
        <source>Base</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>Checkpoint {number}</source>
        <translation>Checkpoint {number}</translation>
    </message>
    <message>
        <source>of another model</source>
        <translation>von einem anderen Modell</translation>
    </message>
    <message>
        <source>best</source>
        <translation>bester</translation>
    </message>
    <message>
        <source>last</source>
        <translation>letzter</translation>
    </message>
    <message>
        <source>Setting questions</source>
        <translation>Fragen stellen</translation>
    </message>
    <message>
        <source>Answering</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>A sum</source>
        <translation>Eine Summe</translation>
    </message>
    <message>
        <source>A word spelled backward</source>
        <translation>Ein Wort rückwärts</translation>
    </message>
    <message>
        <source>Bits of a number</source>
        <translation>Bits einer Zahl</translation>
    </message>
    <message>
        <source>Partly right, {score}</source>
        <translation>Teils richtig, {score}</translation>
    </message>
    <message>
        <source>Comes after the other one</source>
        <translation>Kommt nach der anderen</translation>
    </message>
    <message>
        <source>Waiting: the node is paused</source>
        <translation>Wartet: Der Knoten pausiert</translation>
    </message>
    <message>
        <source>Waiting for the model</source>
        <translation>Wartet auf das Modell</translation>
    </message>
    <message numerus="yes">
        <source>Writing, %n token(s)</source>
        <translation>
            <numerusform>Schreibt, %n Token</numerusform>
            <numerusform>Schreibt, %n Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>Marking</source>
        <translation>Bewerten</translation>
    </message>
    <message>
        <source>Stopped by you</source>
        <translation>Von dir angehalten</translation>
    </message>
    <message>
        <source>Could not be marked: {reason}</source>
        <translation>Konnte nicht bewertet werden: {reason}</translation>
    </message>
    <message>
        <source>No answer: {reason}</source>
        <translation>Keine Antwort: {reason}</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} in {time}, {speed} a second</source>
        <translation>{tokens} in {time}, {speed} je Sekunde</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Gescheitert</translation>
    </message>
    <message>
        <source>Sharing</source>
        <translation>Teilen</translation>
    </message>
    <message>
        <source>Drawing peers&apos; answers</source>
        <translation>Antworten von Peers ziehen</translation>
    </message>
    <message>
        <source>Saving</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Held-out questions</source>
        <translation>Zurückgehaltene Fragen</translation>
    </message>
    <message>
        <source>In silo: no network at all.</source>
        <translation>Im Silo: gar kein Netz.</translation>
    </message>
    <message>
        <source>Looking for peers</source>
        <translation>Sucht Peers</translation>
    </message>
    <message>
        <source>No peers yet: it trains on its own answers meanwhile.</source>
        <translation>Noch keine Peers: Solange trainiert er mit seinen eigenen Antworten.</translation>
    </message>
    <message numerus="yes">
        <source>Linked to %n peer(s)</source>
        <translation>
            <numerusform>Mit %n Peer verbunden</numerusform>
            <numerusform>Mit %n Peers verbunden</numerusform>
        </translation>
    </message>
    <message>
        <source>No link to the swarm: {reason}</source>
        <translation>Keine Verbindung zum Schwarm: {reason}</translation>
    </message>
    <message>
        <source>SAPO Desktop, in silo</source>
        <translation>SAPO Desktop, im Silo</translation>
    </message>
    <message>
        <source>SAPO Desktop</source>
        <translation>SAPO Desktop</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Pick an answer to read it.</source>
        <translation>Wähle eine Antwort, um sie zu lesen.</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>round {round}, {who}</source>
        <translation>Runde {round}, {who}</translation>
    </message>
    <message numerus="yes">
        <source>Answer, %n character(s)</source>
        <translation>
            <numerusform>Antwort, %n Zeichen</numerusform>
            <numerusform>Antwort, %n Zeichen</numerusform>
        </translation>
    </message>
    <message>
        <source>Show the peer&apos;s text</source>
        <translation>Text des Peers zeigen</translation>
    </message>
    <message>
        <source>Hide the peer&apos;s text</source>
        <translation>Text des Peers verbergen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>The answers are being read.</source>
        <translation>Die Antworten werden gelesen.</translation>
    </message>
    <message>
        <source>Show earlier ones</source>
        <translation>Frühere zeigen</translation>
    </message>
    <message>
        <source>Own</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>Peers&apos;</source>
        <translation>Von Peers</translation>
    </message>
    <message>
        <source>Persons&apos;</source>
        <translation>Von Personen</translation>
    </message>
    <message>
        <source>Any mark</source>
        <translation>Jede Wertung</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>Aufgabe</translation>
    </message>
    <message>
        <source>Any task</source>
        <translation>Jede Aufgabe</translation>
    </message>
    <message>
        <source>Whose</source>
        <translation>Von wem</translation>
    </message>
    <message>
        <source>Mark</source>
        <translation>Bewertung</translation>
    </message>
    <message>
        <source>Search in questions and answers</source>
        <translation>In Fragen und Antworten suchen</translation>
    </message>
    <message>
        <source>Show new ones</source>
        <translation>Neue zeigen</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Writes everything that passes the filters to a file, a JSON object a line.</source>
        <translation>Schreibt alles, was die Filter durchlassen, in eine Datei, ein JSON-Objekt je Zeile.</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Herkunft</translation>
    </message>
    <message>
        <source>Anybody</source>
        <translation>Von allen</translation>
    </message>
    <message>
        <source>The answers could not be read: {reason}</source>
        <translation>Die Antworten konnten nicht gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>Nothing to show</source>
        <translation>Nichts zu zeigen</translation>
    </message>
    <message>
        <source>The answers stand here when the node runs.</source>
        <translation>Die Antworten stehen hier, wenn der Knoten läuft.</translation>
    </message>
    <message>
        <source>None passes the filters</source>
        <translation>Die Filter lassen keine durch</translation>
    </message>
    <message>
        <source>Choose any task, any mark and anybody to see all.</source>
        <translation>Wähle „Jede Aufgabe“, „Jede Wertung“ und „Von allen“, um alle zu sehen.</translation>
    </message>
    <message>
        <source>No answers yet</source>
        <translation>Noch keine Antworten</translation>
    </message>
    <message>
        <source>Every answer that is learned from stands here, from the first round on.</source>
        <translation>Jede Antwort, aus der gelernt wird, steht hier, von der ersten Runde an.</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), newest first</source>
        <translation>
            <numerusform>%n Antwort, neueste zuerst</numerusform>
            <numerusform>%n Antworten, neueste zuerst</numerusform>
        </translation>
    </message>
    <message>
        <source>JSON, an answer a line</source>
        <translation>JSON, eine Antwort je Zeile</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>Export answers</source>
        <translation>Antworten exportieren</translation>
    </message>
    <message>
        <source>Exporting</source>
        <translation>Wird exportiert</translation>
    </message>
    <message>
        <source>Exported to {path}</source>
        <translation>Nach {path} exportiert</translation>
    </message>
    <message>
        <source>Nothing was exported: {reason}</source>
        <translation>Nichts wurde exportiert: {reason}</translation>
    </message>
    <message>
        <source>Practise this task</source>
        <translation>Diese Aufgabe üben</translation>
    </message>
    <message>
        <source>Share solved, round by round</source>
        <translation>Anteil gelöst, Runde für Runde</translation>
    </message>
    <message>
        <source>The last task stays on: with none there is nothing to learn.</source>
        <translation>Die letzte Aufgabe bleibt an: Ohne Aufgabe gibt es nichts zu lernen.</translation>
    </message>
    <message>
        <source>Try a question</source>
        <translation>Eine Frage ausprobieren</translation>
    </message>
    <message>
        <source>Pick a task to see its levels.</source>
        <translation>Wähle eine Aufgabe, um ihre Stufen zu sehen.</translation>
    </message>
    <message>
        <source>From easy to hard questions get longer; paper has those of SAPO&apos;s paper.</source>
        <translation>Von „leicht“ bis „schwer“ werden die Fragen länger; „Fachartikel“ hat die aus dem Fachartikel zu SAPO.</translation>
    </message>
    <message>
        <source>Share solved at {level}, in the newest rounds</source>
        <translation>Anteil gelöst auf der Stufe „{level}“, in den neuesten Runden</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>Rounds ask for this level now</source>
        <translation>Die Runden fragen jetzt nach dieser Stufe</translation>
    </message>
    <message numerus="yes">
        <source>{share} of %n</source>
        <translation>
            <numerusform>{share} von %n</numerusform>
            <numerusform>{share} von %n</numerusform>
        </translation>
    </message>
    <message>
        <source>What it did here</source>
        <translation>Was es hier bewirkt hat</translation>
    </message>
    <message>
        <source>No round was looked at yet.</source>
        <translation>Noch wurde keine Runde angesehen.</translation>
    </message>
    <message numerus="yes">
        <source>In the newest %n round(s).</source>
        <translation>
            <numerusform>In der neuesten Runde.</numerusform>
            <numerusform>In den neuesten %n Runden.</numerusform>
        </translation>
    </message>
    <message>
        <source>They were played at different times, so this is no experiment.</source>
        <translation>Sie wurden zu verschiedenen Zeiten gespielt, darum ist das kein Experiment.</translation>
    </message>
    <message>
        <source>In 100</source>
        <translation>In 100</translation>
    </message>
    <message>
        <source>How much the reward rose in 100 such rounds</source>
        <translation>Wie stark die Belohnung in 100 solchen Runden gestiegen ist</translation>
    </message>
    <message>
        <source>From peers</source>
        <translation>Von Peers</translation>
    </message>
    <message>
        <source>Own and peers&apos; answers</source>
        <translation>Eigene und fremde Antworten</translation>
    </message>
    <message>
        <source>Count earlier rounds too</source>
        <translation>Frühere Runden mitzählen</translation>
    </message>
    <message>
        <source>The mean of these rounds</source>
        <translation>Mittel dieser Runden</translation>
    </message>
    <message>
        <source>Share of the groups that came from peers; where they have too few, own ones fill up</source>
        <translation>Anteil der Gruppen, die von Peers kamen; wo sie zu wenige haben, füllen eigene auf</translation>
    </message>
    <message>
        <source>Of eight questions, how many are learned from with whose answers.</source>
        <translation>Bei wie vielen von acht Fragen aus wessen Antworten gelernt wird.</translation>
    </message>
    <message>
        <source>Mix of own and peers&apos; answers</source>
        <translation>Mischung eigener und fremder Antworten</translation>
    </message>
    <message>
        <source>Adaptive</source>
        <translation>Adaptiv</translation>
    </message>
    <message>
        <source>The held-out score decides: the rounds between two scores are played with one of the four mixes, and those under which it rose come more often.</source>
        <translation>Der Prüfwert an zurückgehaltenen Fragen entscheidet: Die Runden zwischen zwei Prüfwerten werden mit einer der vier Mischungen gespielt, und die, unter denen er stieg, kommen öfter.</translation>
    </message>
    <message>
        <source>peers&apos;</source>
        <translation>von Peers</translation>
    </message>
    <message>
        <source>Rounds by mix</source>
        <translation>Runden nach Mischung</translation>
    </message>
    <message>
        <source>No held-out score is taken (validate_every is 0), so rounds are played 4/4.</source>
        <translation>Es wird kein Prüfwert gemessen (validate_every ist 0), darum werden die Runden 4/4 gespielt.</translation>
    </message>
    <message>
        <source>Now {mix}</source>
        <translation>Jetzt {mix}</translation>
    </message>
    <message>
        <source>Treatment</source>
        <translation>Behandlung</translation>
    </message>
    <message>
        <source>What peers&apos; answers weigh. Every one of them is marked here first.</source>
        <translation>Was die Antworten der Peers wiegen. Jede wird zuerst hier bewertet.</translation>
    </message>
    <message>
        <source>Rounds by treatment</source>
        <translation>Runden nach Behandlung</translation>
    </message>
    <message>
        <source>Peers are strangers: what breaks the rules, cannot be checked or is not of use is left out.</source>
        <translation>Peers sind Fremde: Was die Regeln verletzt, nicht prüfbar ist oder nichts nützt, bleibt weg.</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Nachsehen</translation>
    </message>
    <message>
        <source>Refused groups</source>
        <translation>Abgelehnte Gruppen</translation>
    </message>
    <message>
        <source>The refused groups are being read.</source>
        <translation>Die abgelehnten Gruppen werden gelesen.</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>The refused groups could not be read: {reason}</source>
        <translation>Die abgelehnten Gruppen konnten nicht gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>Refused groups stand here when the node runs.</source>
        <translation>Abgelehnte Gruppen stehen hier, wenn der Knoten läuft.</translation>
    </message>
    <message>
        <source>None refused</source>
        <translation>Keine abgelehnt</translation>
    </message>
    <message>
        <source>In silo nothing comes in, so there is nothing to refuse.</source>
        <translation>Im Silo kommt nichts herein, also gibt es nichts abzulehnen.</translation>
    </message>
    <message>
        <source>A group of a peer that is not taken stands here with the reason.</source>
        <translation>Die Gruppe eines Peers, die nicht angenommen wird, steht hier mit dem Grund.</translation>
    </message>
    <message>
        <source>Pick a group to see why.</source>
        <translation>Wähle eine Gruppe, um zu sehen, warum.</translation>
    </message>
    <message>
        <source>Answers of the refused group</source>
        <translation>Antworten der abgelehnten Gruppe</translation>
    </message>
    <message>
        <source>{task}, from {peer}, {time}</source>
        <translation>{task}, von {peer}, {time}</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s) in it</source>
        <translation>
            <numerusform>%n Antwort darin</numerusform>
            <numerusform>%n Antworten darin</numerusform>
        </translation>
    </message>
    <message>
        <source>Its texts were not kept: it could not be read that far.</source>
        <translation>Ihre Texte wurden nicht aufbewahrt: So weit war sie nicht zu lesen.</translation>
    </message>
    <message>
        <source>A round&apos;s time</source>
        <translation>Zeit einer Runde</translation>
    </message>
    <message>
        <source>Phases of a round</source>
        <translation>Phasen einer Runde</translation>
    </message>
    <message>
        <source>When a round runs, its phases stand here: setting questions, answering, marking, learning.</source>
        <translation>Wenn eine Runde läuft, stehen hier ihre Phasen: Fragen stellen, antworten, bewerten, lernen.</translation>
    </message>
    <message>
        <source>Round {round}, now</source>
        <translation>Runde {round}, jetzt</translation>
    </message>
    <message>
        <source>Round {round}, the last one</source>
        <translation>Runde {round}, die letzte</translation>
    </message>
    <message>
        <source>Point at a phase to see what happens in it.</source>
        <translation>Zeige auf eine Phase, um zu sehen, was in ihr geschieht.</translation>
    </message>
    <message>
        <source>Mean of the last rounds: from the first finished one on</source>
        <translation>Mittel der letzten Runden: ab der ersten fertigen</translation>
    </message>
    <message numerus="yes">
        <source>Mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mittel der letzten Runde</numerusform>
            <numerusform>Mittel der letzten %n Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>Phase</translation>
    </message>
    <message>
        <source>This round</source>
        <translation>Diese Runde</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>What happens</source>
        <translation>Was geschieht</translation>
    </message>
    <message>
        <source>What a round learns from</source>
        <translation>Woraus eine Runde lernt</translation>
    </message>
    <message>
        <source>A group is one question with its answers.</source>
        <translation>Eine Gruppe ist eine Frage mit ihren Antworten.</translation>
    </message>
    <message>
        <source>A round takes</source>
        <translation>Eine Runde dauert</translation>
    </message>
    <message>
        <source>Own groups</source>
        <translation>Eigene Gruppen</translation>
    </message>
    <message>
        <source>Peers&apos; groups</source>
        <translation>Gruppen von Peers</translation>
    </message>
    <message>
        <source>Taught nothing</source>
        <translation>Lehrten nichts</translation>
    </message>
    <message>
        <source>Cut off</source>
        <translation>Abgeschnitten</translation>
    </message>
    <message>
        <source>in a round</source>
        <translation>in einer Runde</translation>
    </message>
    <message>
        <source>of the groups: all answers equally good</source>
        <translation>der Gruppen: alle Antworten gleich gut</translation>
    </message>
    <message numerus="yes">
        <source>of own answers, at the limit of %n token(s)</source>
        <translation>
            <numerusform>der eigenen Antworten, an der Grenze von %n Token</numerusform>
            <numerusform>der eigenen Antworten, an der Grenze von %n Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>in silo there are none</source>
        <translation>im Silo gibt es keine</translation>
    </message>
    <message>
        <source>in a round, of {wanted} asked for</source>
        <translation>in einer Runde, von {wanted} erbetenen</translation>
    </message>
    <message>
        <source>Answered just now</source>
        <translation>Gerade beantwortet</translation>
    </message>
    <message>
        <source>This computer&apos;s own answers, as they are marked.</source>
        <translation>Die eigenen Antworten dieses Computers, sobald sie bewertet sind.</translation>
    </message>
    <message>
        <source>While a round runs, its answers pass by here.</source>
        <translation>Während eine Runde läuft, ziehen ihre Antworten hier vorbei.</translation>
    </message>
    <message>
        <source>Every question is made up by a program and marked by one. Pick a task to change it.</source>
        <translation>Jede Frage wird von einem Programm gebildet und von einem bewertet. Wähle eine Aufgabe, um sie zu ändern.</translation>
    </message>
    <message>
        <source>Curriculum</source>
        <translation>Lehrplan</translation>
    </message>
    <message>
        <source>Practise all</source>
        <translation>Alle üben</translation>
    </message>
    <message>
        <source>The node is asked for its tasks.</source>
        <translation>Der Knoten wird nach seinen Aufgaben gefragt.</translation>
    </message>
    <message>
        <source>Moves each task up a level above 70% solved and down below 20%.</source>
        <translation>Rückt jede Aufgabe eine Stufe höher, wenn mehr als 70&#xa0;% gelöst sind, und tiefer, wenn es weniger als 20&#xa0;% sind.</translation>
    </message>
    <message>
        <source>Off: each task stays at the second of its levels.</source>
        <translation>Aus: Jede Aufgabe bleibt auf der zweiten ihrer Stufen.</translation>
    </message>
    <message>
        <source>The tasks could not be read</source>
        <translation>Die Aufgaben konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>They are asked for again when this page is opened.</source>
        <translation>Nach ihnen wird wieder gefragt, wenn diese Seite geöffnet wird.</translation>
    </message>
    <message>
        <source>The tasks stand here when the node runs.</source>
        <translation>Die Aufgaben stehen hier, wenn der Knoten läuft.</translation>
    </message>
    <message>
        <source>Another choice of tasks is saved. It holds once the round in hand is done.</source>
        <translation>Eine andere Auswahl von Aufgaben ist gespeichert. Sie gilt, sobald die laufende Runde zu Ende ist.</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <source>Practised</source>
        <translation>Geübt</translation>
    </message>
    <message>
        <source>The levels that rounds ask for now</source>
        <translation>Die Stufen, nach denen die Runden jetzt fragen</translation>
    </message>
    <message>
        <source>Share of own answers in the newest rounds</source>
        <translation>Anteil der eigenen Antworten in den neuesten Runden</translation>
    </message>
    <message>
        <source>Last move</source>
        <translation>Letzter Wechsel</translation>
    </message>
    <message>
        <source>When its level changed, in the newest 1000 rounds</source>
        <translation>Wann ihre Stufe wechselte, in den neuesten 1000 Runden</translation>
    </message>
    <message>
        <source>Versions, the system, the model at work and its limits</source>
        <translation>Versionen, das System, das arbeitende Modell und seine Grenzen</translation>
    </message>
    <message>
        <source>The settings; of those that are typed as text only whether there is one</source>
        <translation>Die Einstellungen; bei denen, die als Text eingegeben werden, nur, ob da einer ist</translation>
    </message>
    <message>
        <source>The last 200 lines of the log</source>
        <translation>Die letzten 200 Zeilen des Protokolls</translation>
    </message>
    <message>
        <source>Your name and this computer&apos;s</source>
        <translation>Dein Name und der dieses Computers</translation>
    </message>
    <message>
        <source>Addresses, keys, tokens and invites</source>
        <translation>Adressen, Schlüssel, Zugangstoken und Einladungen</translation>
    </message>
    <message>
        <source>Your folders&apos; names</source>
        <translation>Die Namen deiner Ordner</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>It was written, and nothing was sent.</source>
        <translation>Sie wurde geschrieben, und nichts wurde gesendet.</translation>
    </message>
    <message>
        <source>Where it lies</source>
        <translation>Wo sie liegt</translation>
    </message>
    <message>
        <source>In it</source>
        <translation>Darin</translation>
    </message>
    <message>
        <source>Left out, or replaced by a word for it</source>
        <translation>Weggelassen oder durch ein Wort dafür ersetzt</translation>
    </message>
    <message>
        <source>Private data is taken out by rules: look through the file before you pass it on.</source>
        <translation>Private Daten werden nach Regeln entfernt: Sieh die Datei durch, bevor du sie weitergibst.</translation>
    </message>
    <message>
        <source>Copy the path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Read again</source>
        <translation>Neu lesen</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>Alles kopieren</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>The end of the log file</source>
        <translation>Das Ende der Protokolldatei</translation>
    </message>
    <message>
        <source>Reading the log</source>
        <translation>Das Protokoll wird gelesen</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>{at} of {number}</source>
        <translation>{at} von {number}</translation>
    </message>
    <message>
        <source>The log is empty.</source>
        <translation>Das Protokoll ist leer.</translation>
    </message>
    <message>
        <source>The log was copied. It may name folders and addresses of yours.</source>
        <translation>Das Protokoll wurde kopiert. Es kann Ordner und Adressen von dir nennen.</translation>
    </message>
    <message>
        <source>Levels shown</source>
        <translation>Gezeigte Stufen</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>Copy selected</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Meldung</translation>
    </message>
    <message>
        <source>The whole notice</source>
        <translation>Die ganze Meldung</translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s)</source>
        <translation>
            <numerusform>%n Meldung</numerusform>
            <numerusform>%n Meldungen</numerusform>
        </translation>
    </message>
    <message>
        <source>No notice of this level has these words.</source>
        <translation>Keine Meldung dieser Stufe enthält diese Wörter.</translation>
    </message>
    <message>
        <source>Nothing to report</source>
        <translation>Nichts zu melden</translation>
    </message>
    <message>
        <source>What goes wrong, and what the node changes by itself, is told here.</source>
        <translation>Was schiefgeht und was der Knoten von selbst ändert, wird hier gesagt.</translation>
    </message>
    <message>
        <source>Choose a line to read all of it here.</source>
        <translation>Wähle eine Zeile, um sie hier ganz zu lesen.</translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s) copied.</source>
        <translation>
            <numerusform>%n Meldung kopiert.</numerusform>
            <numerusform>%n Meldungen kopiert.</numerusform>
        </translation>
    </message>
    <message>
        <source>Information</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Add a peer</source>
        <translation>Peer hinzufügen</translation>
    </message>
    <message>
        <source>The peers&apos; clocks differ from this computer&apos;s by {span}: look at its clock.</source>
        <translation>Die Uhren der Peers weichen um {span} von der dieses Computers ab: Sieh nach seiner Uhr.</translation>
    </message>
    <message>
        <source>In silo there are no peers</source>
        <translation>Im Silo gibt es keine Peers</translation>
    </message>
    <message>
        <source>No network is used at all. Outside of silo this node draws others&apos; answers, checks every one itself and learns from them. Its own answers are published only if you switch on sharing.</source>
        <translation>Es wird gar kein Netz benutzt. Außerhalb des Silos zieht dieser Knoten die Antworten anderer, prüft jede selbst und lernt aus ihnen. Seine eigenen Antworten werden nur veröffentlicht, wenn du das Teilen einschaltest.</translation>
    </message>
    <message>
        <source>Leave silo</source>
        <translation>Silo verlassen</translation>
    </message>
    <message>
        <source>No node, no peers</source>
        <translation>Kein Knoten, keine Peers</translation>
    </message>
    <message>
        <source>Groups shared</source>
        <translation>Geteilte Gruppen</translation>
    </message>
    <message>
        <source>Groups drawn</source>
        <translation>Gezogene Gruppen</translation>
    </message>
    <message>
        <source>In the pool</source>
        <translation>Im Vorrat</translation>
    </message>
    <message>
        <source>Receiving</source>
        <translation>Empfängt</translation>
    </message>
    <message>
        <source>Sending</source>
        <translation>Sendet</translation>
    </message>
    <message>
        <source>of this node&apos;s own</source>
        <translation>von den eigenen dieses Knotens</translation>
    </message>
    <message>
        <source>sharing is switched off</source>
        <translation>das Teilen ist ausgeschaltet</translation>
    </message>
    <message>
        <source>{count} fit to learn from</source>
        <translation>{count} zum Lernen geeignet</translation>
    </message>
    <message>
        <source>others&apos; groups, ready to be drawn</source>
        <translation>Gruppen anderer, zum Ziehen bereit</translation>
    </message>
    <message>
        <source>{size} over these links</source>
        <translation>{size} über diese Verbindungen</translation>
    </message>
    <message>
        <source>Links</source>
        <translation>Verbindungen</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>Sperren</translation>
    </message>
    <message>
        <source>No peer is linked</source>
        <translation>Kein Peer ist verbunden</translation>
    </message>
    <message>
        <source>Training goes on alone. Add a peer by its address, or follow an invite.</source>
        <translation>Das Training geht allein weiter. Füge einen Peer mit seiner Adresse hinzu, oder folge einer Einladung.</translation>
    </message>
    <message>
        <source>Peer</source>
        <translation>Peer</translation>
    </message>
    <message>
        <source>Direction</source>
        <translation>Richtung</translation>
    </message>
    <message>
        <source>Who dialled whom</source>
        <translation>Wer wen angewählt hat</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Antwortzeit</translation>
    </message>
    <message>
        <source>Of the last question that was answered over it</source>
        <translation>Bei der letzten Frage, die über die Verbindung beantwortet wurde</translation>
    </message>
    <message>
        <source>Groups in</source>
        <translation>Gruppen herein</translation>
    </message>
    <message>
        <source>Out</source>
        <translation>Hinaus</translation>
    </message>
    <message>
        <source>What broke the rules or could not be checked</source>
        <translation>Was die Regeln verletzt hat oder nicht prüfbar war</translation>
    </message>
    <message>
        <source>Draws</source>
        <translation>Ziehungen</translation>
    </message>
    <message>
        <source>Share of the groups drawn lately that came over it</source>
        <translation>Anteil der zuletzt gezogenen Gruppen, die über diese Verbindung kamen</translation>
    </message>
    <message>
        <source>Linked for</source>
        <translation>Verbunden seit</translation>
    </message>
    <message>
        <source>Peer {key}</source>
        <translation>Peer {key}</translation>
    </message>
    <message>
        <source>Its key</source>
        <translation>Sein Schlüssel</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>Schlüssel kopieren</translation>
    </message>
    <message>
        <source>Its address</source>
        <translation>Seine Adresse</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <source>Not taken from it</source>
        <translation>Von ihm nicht angenommen</translation>
    </message>
    <message>
        <source>What it says of itself. Nobody checked it.</source>
        <translation>Was er von sich selbst sagt. Niemand hat es geprüft.</translation>
    </message>
    <message>
        <source>Keep its address</source>
        <translation>Adresse behalten</translation>
    </message>
    <message>
        <source>This node closes the link, and takes and sends nothing more of its key. It can be taken back under Blocked.</source>
        <translation>Dieser Knoten schließt die Verbindung, und von diesem Schlüssel nimmt er nichts mehr an und sendet ihm nichts mehr. Unter „Gesperrt“ lässt es sich zurücknehmen.</translation>
    </message>
    <message>
        <source>Block peer {key}?</source>
        <translation>Peer {key} sperren?</translation>
    </message>
    <message>
        <source>This node dialled it. Linked for {span}.</source>
        <translation>Dieser Knoten hat ihn angewählt. Verbunden seit {span}.</translation>
    </message>
    <message>
        <source>It dialled this node. Linked for {span}.</source>
        <translation>Er hat diesen Knoten angewählt. Verbunden seit {span}.</translation>
    </message>
    <message>
        <source>Groups out</source>
        <translation>Gruppen hinaus</translation>
    </message>
    <message>
        <source>Share of my draws</source>
        <translation>Anteil an meinen Ziehungen</translation>
    </message>
    <message>
        <source>Received</source>
        <translation>Empfangen</translation>
    </message>
    <message>
        <source>Sent</source>
        <translation>Gesendet</translation>
    </message>
    <message>
        <source>Program: {name}</source>
        <translation>Programm: {name}</translation>
    </message>
    <message>
        <source>It has not said how far it is.</source>
        <translation>Er hat nicht gesagt, wie weit er ist.</translation>
    </message>
    <message numerus="yes">
        <source>%n of this node&apos;s groups used</source>
        <translation>
            <numerusform>%n Gruppe dieses Knotens genutzt</numerusform>
            <numerusform>%n Gruppen dieses Knotens genutzt</numerusform>
        </translation>
    </message>
    <message>
        <source>round {round}, reward {reward}</source>
        <translation>Runde {round}, Belohnung {reward}</translation>
    </message>
    <message>
        <source>Label: {label}</source>
        <translation>Beiname: {label}</translation>
    </message>
    <message>
        <source>Private swarm</source>
        <translation>Privater Schwarm</translation>
    </message>
    <message>
        <source>The swarm&apos;s key</source>
        <translation>Der Schlüssel des Schwarms</translation>
    </message>
    <message>
        <source>Copy the swarm&apos;s key</source>
        <translation>Schlüssel des Schwarms kopieren</translation>
    </message>
    <message>
        <source>Found one</source>
        <translation>Einen gründen</translation>
    </message>
    <message>
        <source>Follow an invite</source>
        <translation>Einer Einladung folgen</translation>
    </message>
    <message>
        <source>Admit somebody</source>
        <translation>Jemanden aufnehmen</translation>
    </message>
    <message>
        <source>Make an invite</source>
        <translation>Einladung erstellen</translation>
    </message>
    <message>
        <source>Back to the public swarm</source>
        <translation>Zurück in den öffentlichen Schwarm</translation>
    </message>
    <message>
        <source>This node talks to the members of one private swarm only, and learns from nobody else.</source>
        <translation>Dieser Knoten spricht nur mit den Mitgliedern eines einzigen privaten Schwarms und lernt von niemandem sonst.</translation>
    </message>
    <message>
        <source>For people who know each other: its members talk to each other only. This node is in the public one.</source>
        <translation>Für Menschen, die einander kennen: Seine Mitglieder sprechen nur miteinander. Dieser Knoten ist im öffentlichen.</translation>
    </message>
    <message>
        <source>This node then talks only to those whom you admit, and gives up the addresses that it keeps now. You can go back to the public swarm at any time.</source>
        <translation>Dieser Knoten spricht dann nur noch mit denen, die du aufnimmst, und gibt die Adressen auf, die er jetzt behält. In den öffentlichen Schwarm kannst du jederzeit zurück.</translation>
    </message>
    <message>
        <source>Found a private swarm?</source>
        <translation>Einen privaten Schwarm gründen?</translation>
    </message>
    <message>
        <source>Found it</source>
        <translation>Gründen</translation>
    </message>
    <message>
        <source>This node is in its own private swarm. Admit others by their keys.</source>
        <translation>Dieser Knoten ist in seinem eigenen privaten Schwarm. Nimm andere mit ihren Schlüsseln auf.</translation>
    </message>
    <message>
        <source>The addresses of the private swarm are given up. To come back, follow an invite.</source>
        <translation>Die Adressen des privaten Schwarms werden aufgegeben. Um zurückzukommen, folge einer Einladung.</translation>
    </message>
    <message>
        <source>Go back to the public swarm?</source>
        <translation>Zurück in den öffentlichen Schwarm?</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurückgehen</translation>
    </message>
    <message>
        <source>Invite to this swarm</source>
        <translation>Einladung in diesen Schwarm</translation>
    </message>
    <message>
        <source>The link tells the way and admits nobody. Who follows it tells you a key, which the founder admits.</source>
        <translation>Der Link zeigt den Weg und nimmt niemanden auf. Wer ihm folgt, nennt dir einen Schlüssel; aufnehmen kann ihn, wer den Schwarm gegründet hat.</translation>
    </message>
    <message>
        <source>Only the founder can. A link is made that admits one key; it is no secret and helps nobody else.</source>
        <translation>Das kann nur, wer den Schwarm gegründet hat. Es wird ein Link erstellt, der einen Schlüssel aufnimmt; er ist kein Geheimnis und hilft niemandem sonst.</translation>
    </message>
    <message>
        <source>For good</source>
        <translation>Für immer</translation>
    </message>
    <message>
        <source>A week</source>
        <translation>Eine Woche</translation>
    </message>
    <message>
        <source>A month</source>
        <translation>Ein Monat</translation>
    </message>
    <message>
        <source>A year</source>
        <translation>Ein Jahr</translation>
    </message>
    <message>
        <source>Admitted</source>
        <translation>Dauer der Aufnahme</translation>
    </message>
    <message>
        <source>Make the link</source>
        <translation>Link erstellen</translation>
    </message>
    <message>
        <source>64 digits. It stands on the Peers page of the newcomer&apos;s window.</source>
        <translation>64 Ziffern. Er steht auf der Seite „Peers“ im Fenster der neuen Person.</translation>
    </message>
    <message>
        <source>An admission cannot be called back before its end.</source>
        <translation>Eine Aufnahme lässt sich vor ihrem Ende nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Invite link</source>
        <translation>Einladungslink</translation>
    </message>
    <message>
        <source>Copy the link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>Not taken</source>
        <translation>Nicht angenommen</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Anzahl</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Everything is checked here. What is invalid counts against its sender. What is unverifiable may be our own version&apos;s fault, and what is ignored is nobody&apos;s.</source>
        <translation>Alles wird hier geprüft. Was ungültig ist, zählt gegen seinen Absender. Was nicht prüfbar ist, kann an unserer eigenen Version liegen, und was übergangen wird, liegt an niemandem.</translation>
    </message>
    <message>
        <source>Nothing was refused</source>
        <translation>Nichts wurde abgelehnt</translation>
    </message>
    <message>
        <source>Since this node joined the swarm.</source>
        <translation>Seit dieser Knoten dem Schwarm beigetreten ist.</translation>
    </message>
    <message>
        <source>{count} from version {name}</source>
        <translation>{count} (Version {name})</translation>
    </message>
    <message>
        <source>that was not named</source>
        <comment>version</comment>
        <translation>nicht genannt</translation>
    </message>
    <message>
        <source>Questions that came out differently here: {list}.</source>
        <translation>Fragen, die hier anders herauskamen: {list}.</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>geändert</translation>
    </message>
    <message>
        <source>from the next start on</source>
        <translation>ab dem nächsten Start</translation>
    </message>
    <message>
        <source>once this round is done</source>
        <translation>nach dieser Runde</translation>
    </message>
    <message>
        <source>set by the command line</source>
        <translation>von der Befehlszeile gesetzt</translation>
    </message>
    <message>
        <source>{title}: back to the default</source>
        <translation>{title}: zurück zum Standard</translation>
    </message>
    <message>
        <source>Back to the default: {value}</source>
        <translation>Zurück zum Standard: {value}</translation>
    </message>
    <message>
        <source>{title}: show it</source>
        <translation>{title}: anzeigen</translation>
    </message>
    <message>
        <source>{title}: choose a folder</source>
        <translation>{title}: Ordner wählen</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>Ordner wählen</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>The model as it came</source>
        <translation>Das Modell, wie es kam</translation>
    </message>
    <message>
        <source>The model as it is now</source>
        <translation>Das Modell, wie es jetzt ist</translation>
    </message>
    <message>
        <source>Nothing has been learned here yet: both are the same model.</source>
        <translation>Hier wurde noch nichts gelernt: Beide sind dasselbe Modell.</translation>
    </message>
    <message>
        <source>Nothing asked yet</source>
        <translation>Noch nichts gefragt</translation>
    </message>
    <message>
        <source>Ask a question above, take one from a task, or begin with one of these.</source>
        <translation>Stelle oben eine Frage, nimm eine aus einer Aufgabe, oder beginne mit einer von diesen.</translation>
    </message>
    <message>
        <source>The right answer: {answer}</source>
        <translation>Die richtige Antwort: {answer}</translation>
    </message>
    <message>
        <source>Neither answer was marked.</source>
        <translation>Keine der beiden Antworten wurde bewertet.</translation>
    </message>
    <message>
        <source>The right answer is shown when both are there.</source>
        <translation>Die richtige Antwort wird gezeigt, wenn beide da sind.</translation>
    </message>
    <message>
        <source>Where the question comes from</source>
        <translation>Woher die Frage kommt</translation>
    </message>
    <message>
        <source>my own</source>
        <translation>von mir</translation>
    </message>
    <message>
        <source>a task&apos;s</source>
        <translation>aus einer Aufgabe</translation>
    </message>
    <message>
        <source>Type a question. A small model knows little of the world; it has practised riddles like the tasks&apos;.</source>
        <translation>Gib eine Frage ein. Ein kleines Modell weiß wenig von der Welt; geübt hat es Rätsel wie die der Aufgaben.</translation>
    </message>
    <message>
        <source>How each word is chosen</source>
        <translation>Wie jedes Wort gewählt wird</translation>
    </message>
    <message>
        <source>the likeliest</source>
        <translation>das wahrscheinlichste</translation>
    </message>
    <message>
        <source>drawn</source>
        <translation>gezogen</translation>
    </message>
    <message>
        <source>The same answer every time</source>
        <translation>Jedes Mal dieselbe Antwort</translation>
    </message>
    <message>
        <source>As in training: another answer every time</source>
        <translation>Wie im Training: jedes Mal eine andere Antwort</translation>
    </message>
    <message>
        <source>Ask both</source>
        <translation>Beide fragen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Question:</source>
        <translation>Frage:</translation>
    </message>
    <message>
        <source>Each word:</source>
        <translation>Jedes Wort:</translation>
    </message>
    <message>
        <source>The node is not running just now: it cannot answer.</source>
        <translation>Der Knoten läuft gerade nicht: Er kann nicht antworten.</translation>
    </message>
    <message>
        <source>Draw a question</source>
        <translation>Frage ziehen</translation>
    </message>
    <message>
        <source>The task&apos;s question</source>
        <translation>Die Frage der Aufgabe</translation>
    </message>
    <message>
        <source>The question is shown here before anybody answers it.</source>
        <translation>Die Frage wird hier gezeigt, bevor jemand sie beantwortet.</translation>
    </message>
    <message>
        <source>Asked for: {form}</source>
        <translation>Gefragt ist: {form}</translation>
    </message>
    <message>
        <source>In training now; not answered lately.</source>
        <translation>Jetzt im Training; zuletzt nicht beantwortet.</translation>
    </message>
    <message>
        <source>Not in training now.</source>
        <translation>Jetzt nicht im Training.</translation>
    </message>
    <message>
        <source>In training now; {share} of the newest answers solve it.</source>
        <translation>Jetzt im Training; {share} der neuesten Antworten lösen sie.</translation>
    </message>
    <message>
        <source>Not in training now; {share} of the newest answers solved it.</source>
        <translation>Jetzt nicht im Training; {share} der neuesten Antworten lösten sie.</translation>
    </message>
    <message>
        <source>I dialled</source>
        <translation>von mir</translation>
    </message>
    <message>
        <source>it dialled</source>
        <translation>von ihm</translation>
    </message>
    <message>
        <source>{size}/s</source>
        <translation>{size}/s</translation>
    </message>
    <message>
        <source>{number} ms</source>
        <translation>{number}&#xa0;ms</translation>
    </message>
    <message>
        <source>Its secret half is in this computer&apos;s keyring.</source>
        <translation>Seine geheime Hälfte liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>Its secret half is in a file that your passphrase closes.</source>
        <translation>Seine geheime Hälfte liegt in einer Datei, die deine Passphrase verschließt.</translation>
    </message>
    <message>
        <source>Its secret half is kept nowhere: this identity ends with the node.</source>
        <translation>Seine geheime Hälfte wird nirgends aufgehoben: Diese Identität endet mit dem Knoten.</translation>
    </message>
    <message>
        <source>There is none yet. It is made when the node first joins the swarm.</source>
        <translation>Noch gibt es keinen. Er wird gemacht, wenn der Knoten zum ersten Mal dem Schwarm beitritt.</translation>
    </message>
    <message>
        <source>Invalid</source>
        <translation>Ungültig</translation>
    </message>
    <message>
        <source>Unverifiable</source>
        <translation>Nicht prüfbar</translation>
    </message>
    <message>
        <source>Ignored</source>
        <translation>Übergangen</translation>
    </message>
    <message>
        <source>It was larger than any message may be.</source>
        <translation>Größer, als eine Nachricht sein darf.</translation>
    </message>
    <message>
        <source>It was no message of this protocol.</source>
        <translation>Keine Nachricht dieses Protokolls.</translation>
    </message>
    <message>
        <source>A message had fields of the wrong kind.</source>
        <translation>Eine Nachricht hatte Felder der falschen Art.</translation>
    </message>
    <message>
        <source>A message came at the wrong moment.</source>
        <translation>Eine Nachricht kam im falschen Moment.</translation>
    </message>
    <message>
        <source>Messages came more often than agreed.</source>
        <translation>Nachrichten kamen öfter als vereinbart.</translation>
    </message>
    <message>
        <source>More was sent than this node had granted.</source>
        <translation>Es wurde mehr gesendet, als dieser Knoten erlaubt hatte.</translation>
    </message>
    <message>
        <source>A packed batch could not be unpacked, or was too large.</source>
        <translation>Ein gepacktes Bündel ließ sich nicht auspacken oder war zu groß.</translation>
    </message>
    <message>
        <source>The signature does not belong to the named author.</source>
        <translation>Die Signatur gehört nicht zum genannten Urheber.</translation>
    </message>
    <message>
        <source>It answered a question that nobody had asked.</source>
        <translation>Eine Antwort auf eine Frage, die niemand gestellt hatte.</translation>
    </message>
    <message>
        <source>A peer handed on as its own what another had signed.</source>
        <translation>Ein Peer gab als Eigenes weiter, was ein anderer signiert hatte.</translation>
    </message>
    <message>
        <source>It was signed, but what was signed is not well formed.</source>
        <translation>Signiert, aber was signiert wurde, ist fehlerhaft aufgebaut.</translation>
    </message>
    <message>
        <source>It was signed for another swarm.</source>
        <translation>Für einen anderen Schwarm signiert.</translation>
    </message>
    <message>
        <source>Its author is not admitted to this private swarm.</source>
        <translation>Der Urheber ist in diesem privaten Schwarm nicht aufgenommen.</translation>
    </message>
    <message>
        <source>An answer had signs that no answer to this task needs.</source>
        <translation>Eine Antwort hatte Zeichen, die keine Antwort auf diese Aufgabe braucht.</translation>
    </message>
    <message>
        <source>Its author signed two different things for one place.</source>
        <translation>Der Urheber hat für eine Stelle zwei verschiedene Dinge signiert.</translation>
    </message>
    <message>
        <source>Its author sent more than one identity may.</source>
        <translation>Der Urheber hat mehr gesendet, als eine Identität darf.</translation>
    </message>
    <message>
        <source>The question came out differently here: the peer has another version of the tasks.</source>
        <translation>Die Frage kam hier anders heraus: Der Peer hat eine andere Version der Aufgaben.</translation>
    </message>
    <message>
        <source>Checking it took longer than strangers are given.</source>
        <translation>Die Prüfung dauerte länger, als Fremden gewährt wird.</translation>
    </message>
    <message>
        <source>It came too late to be of use.</source>
        <translation>Es kam zu spät, um zu nützen.</translation>
    </message>
    <message>
        <source>It is dated in the future: a clock is wrong, here or there.</source>
        <translation>Das Datum liegt in der Zukunft: Eine Uhr geht falsch, hier oder dort.</translation>
    </message>
    <message>
        <source>It was here already.</source>
        <translation>Es war schon hier.</translation>
    </message>
    <message>
        <source>A message of a kind that this version does not know.</source>
        <translation>Eine Nachricht einer Art, die diese Version nicht kennt.</translation>
    </message>
    <message>
        <source>A task that this version does not know.</source>
        <translation>Eine Aufgabe, die diese Version nicht kennt.</translation>
    </message>
    <message>
        <source>A task that this node does not train on or share.</source>
        <translation>Eine Aufgabe, die dieser Knoten nicht trainiert oder nicht teilt.</translation>
    </message>
    <message>
        <source>It was this node&apos;s own, come back.</source>
        <translation>Es war von diesem Knoten selbst und kam zurück.</translation>
    </message>
    <message>
        <source>Its author or the peer is shut out for a while, after breaking the rules.</source>
        <translation>Der Urheber oder der Peer ist nach einer Regelverletzung eine Weile ausgeschlossen.</translation>
    </message>
    <message>
        <source>There was no more room for its source.</source>
        <translation>Für diese Quelle war kein Platz mehr.</translation>
    </message>
    <message>
        <source>Its question is among the held-out ones, which are never trained on.</source>
        <translation>Die Frage gehört zu den zurückgehaltenen, an denen nie trainiert wird.</translation>
    </message>
    <message>
        <source>This model cannot learn from it: too long, or not of the form it is taught.</source>
        <translation>Dieses Modell kann daraus nicht lernen: zu lang oder nicht in der Form, die es lernt.</translation>
    </message>
    <message>
        <source>A stranger named an address of a private network.</source>
        <translation>Ein Fremder nannte eine Adresse eines privaten Netzes.</translation>
    </message>
    <message>
        <source>There was no time left to check it.</source>
        <translation>Zum Prüfen blieb keine Zeit.</translation>
    </message>
    <message>
        <source>Your answer is published with the model&apos;s beside it, under this node&apos;s key, in the public domain (CC0): anybody may keep it and pass it on, and it cannot be called back.</source>
        <translation>Deine Antwort wird mit der des Modells daneben veröffentlicht, unter dem Schlüssel dieses Knotens und gemeinfrei (CC0): Alle dürfen sie behalten und weitergeben, und sie lässt sich nicht zurückholen.</translation>
    </message>
    <message>
        <source>Your answer stays on this computer, where the model learns from it.</source>
        <translation>Deine Antwort bleibt auf diesem Computer, wo das Modell aus ihr lernt.</translation>
    </message>
    <message>
        <source>In silo nothing leaves it.</source>
        <translation>Im Silo verlässt ihn nichts.</translation>
    </message>
    <message>
        <source>Sharing is switched off.</source>
        <translation>Das Teilen ist ausgeschaltet.</translation>
    </message>
    <message>
        <source>This one is not shared.</source>
        <translation>Diese wird nicht geteilt.</translation>
    </message>
    <message>
        <source>Partly right: {share}</source>
        <translation>Teils richtig: {share}</translation>
    </message>
    <message>
        <source>Not of the form that this task asks for</source>
        <translation>Nicht in der Form, nach der diese Aufgabe fragt</translation>
    </message>
    <message>
        <source>Marking took too long</source>
        <translation>Die Bewertung dauerte zu lange</translation>
    </message>
    <message>
        <source>It could not be marked</source>
        <translation>Sie konnte nicht bewertet werden</translation>
    </message>
    <message>
        <source>breaks the rules</source>
        <translation>verletzt die Regeln</translation>
    </message>
    <message>
        <source>cannot be checked</source>
        <translation>nicht prüfbar</translation>
    </message>
    <message>
        <source>not of use</source>
        <translation>nicht von Nutzen</translation>
    </message>
    <message>
        <source>It breaks the rules, and counts against the peer that signed it.</source>
        <translation>Sie verletzt die Regeln und zählt gegen den Peer, der sie signiert hat.</translation>
    </message>
    <message>
        <source>It could not be checked here. Another version on either side may be why, so nobody is blamed.</source>
        <translation>Sie konnte hier nicht geprüft werden. Das kann an einer anderen Version auf einer der beiden Seiten liegen, darum wird niemandem die Schuld gegeben.</translation>
    </message>
    <message>
        <source>It is nobody&apos;s fault, and counts against nobody.</source>
        <translation>Niemand ist schuld, und sie zählt gegen niemanden.</translation>
    </message>
    <message>
        <source>malformed</source>
        <translation>fehlerhaft aufgebaut</translation>
    </message>
    <message>
        <source>It is not written as a group of answers has to be.</source>
        <translation>Sie ist nicht so geschrieben, wie eine Gruppe von Antworten es sein muss.</translation>
    </message>
    <message>
        <source>of another swarm</source>
        <translation>aus einem anderen Schwarm</translation>
    </message>
    <message>
        <source>not admitted</source>
        <translation>nicht aufgenommen</translation>
    </message>
    <message>
        <source>forbidden signs</source>
        <translation>verbotene Zeichen</translation>
    </message>
    <message>
        <source>A text in it is too long, or holds signs that an answer may not have.</source>
        <translation>Ein Text darin ist zu lang oder enthält Zeichen, die eine Antwort nicht haben darf.</translation>
    </message>
    <message>
        <source>two under one name</source>
        <translation>zwei unter einem Namen</translation>
    </message>
    <message>
        <source>Its author signed two different groups under one name.</source>
        <translation>Der Urheber hat zwei verschiedene Gruppen unter einem Namen signiert.</translation>
    </message>
    <message>
        <source>unknown task</source>
        <translation>unbekannte Aufgabe</translation>
    </message>
    <message>
        <source>It answers a task that this version does not have.</source>
        <translation>Sie beantwortet eine Aufgabe, die diese Version nicht hat.</translation>
    </message>
    <message>
        <source>not shared here</source>
        <translation>hier nicht geteilt</translation>
    </message>
    <message>
        <source>Answers to this task are not taken from peers: they are slow to check.</source>
        <translation>Antworten auf diese Aufgabe werden von Peers nicht angenommen: Sie sind langsam zu prüfen.</translation>
    </message>
    <message>
        <source>a held-out question</source>
        <translation>eine zurückgehaltene Frage</translation>
    </message>
    <message>
        <source>Its question is kept for measuring and must never be trained on.</source>
        <translation>Ihre Frage ist zum Messen reserviert und darf nie trainiert werden.</translation>
    </message>
    <message>
        <source>of no use to learn</source>
        <translation>zum Lernen ungeeignet</translation>
    </message>
    <message>
        <source>No answer in it has the form in which this model answers.</source>
        <translation>Keine Antwort darin hat die Form, in der dieses Modell antwortet.</translation>
    </message>
    <message>
        <source>another question here</source>
        <translation>hier eine andere Frage</translation>
    </message>
    <message>
        <source>The question came out otherwise here than at the peer&apos;s: its library has another version.</source>
        <translation>Die Frage kam hier anders heraus als beim Peer: Seine Bibliothek hat eine andere Version.</translation>
    </message>
    <message>
        <source>took too long</source>
        <translation>dauerte zu lange</translation>
    </message>
    <message>
        <source>Checking it took too long and was given up.</source>
        <translation>Die Prüfung dauerte zu lange und wurde aufgegeben.</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Models shown</source>
        <translation>Gezeigte Modelle</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Whether the memory is enough for it to learn here</source>
        <translation>Ob der Speicher reicht, damit es hier lernen kann</translation>
    </message>
    <message>
        <source>Takes</source>
        <translation>Braucht</translation>
    </message>
    <message>
        <source>Memory, to learn</source>
        <translation>Speicher, zum Lernen</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>No model is selected</source>
        <translation>Kein Modell ist ausgewählt</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Hub account</source>
        <translation>Konto beim Hub</translation>
    </message>
    <message>
        <source>Chosen for this computer</source>
        <translation>Für diesen Computer gewählt</translation>
    </message>
    <message>
        <source>Needs an account</source>
        <translation>Braucht ein Konto</translation>
    </message>
    <message>
        <source>Stay with this model</source>
        <translation>Bei diesem Modell bleiben</translation>
    </message>
    <message>
        <source>Use this model</source>
        <translation>Dieses Modell nutzen</translation>
    </message>
    <message>
        <source>Go on downloading</source>
        <translation>Weiter herunterladen</translation>
    </message>
    <message>
        <source>A download or import that was cut short.</source>
        <translation>Ein abgebrochener Download oder Import.</translation>
    </message>
    <message>
        <source>Not of the catalogue: how much memory it takes shows when it is loaded.</source>
        <translation>Nicht aus dem Katalog: Wie viel Speicher es braucht, zeigt sich, wenn es geladen wird.</translation>
    </message>
    <message>
        <source>{parameters} parameters.</source>
        <translation>{parameters} Parameter.</translation>
    </message>
    <message>
        <source>Licence: {licence}.</source>
        <translation>Lizenz: {licence}.</translation>
    </message>
    <message>
        <source>{size} on this computer.</source>
        <translation>{size} auf diesem Computer.</translation>
    </message>
    <message>
        <source>About {size} to download.</source>
        <translation>Etwa {size} zum Herunterladen.</translation>
    </message>
    <message>
        <source>It comes with the program.</source>
        <translation>Es kommt mit dem Programm.</translation>
    </message>
    <message>
        <source>In silo nothing is downloaded: leave silo for it, or import the model.</source>
        <translation>Im Silo wird nichts heruntergeladen: Verlasse es dafür, oder importiere das Modell.</translation>
    </message>
    <message>
        <source>One download or import is under way at a time.</source>
        <translation>Es läuft immer nur ein Download oder Import.</translation>
    </message>
    <message>
        <source>Its licence has to be accepted on the hub first, by an account; a token of it is entered here.</source>
        <translation>Seine Lizenz muss zuerst beim Hub angenommen werden, mit einem Konto; ein Zugangstoken davon wird hier eingegeben.</translation>
    </message>
    <message>
        <source>Not verified: {facts}.</source>
        <translation>Nicht nachgeprüft: {facts}.</translation>
    </message>
    <message>
        <source>Export: {name}</source>
        <translation>Export: {name}</translation>
    </message>
    <message>
        <source>Whole model</source>
        <translation>Ganzes Modell</translation>
    </message>
    <message>
        <source>GGUF</source>
        <translation>GGUF</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Choose</source>
        <translation>Wählen</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>Wird geschrieben</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>A new folder, or an empty one.</source>
        <translation>Ein neuer Ordner oder ein leerer.</translation>
    </message>
    <message>
        <source>Export to</source>
        <translation>Exportieren nach</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) written to {folder}: {files}</source>
        <translation>
            <numerusform>%n Datei nach {folder} geschrieben: {files}</numerusform>
            <numerusform>%n Dateien nach {folder} geschrieben: {files}</numerusform>
        </translation>
    </message>
    <message>
        <source>What was learned alone, small; the peft library lays it over the model it was learned with.</source>
        <translation>Nur das Gelernte, klein; die Bibliothek peft legt es über das Modell, mit dem es gelernt wurde.</translation>
    </message>
    <message>
        <source>The model with what was learned inside, for transformers and servers such as vLLM.</source>
        <translation>Das Modell mit dem Gelernten darin, für transformers und Server wie vLLM.</translation>
    </message>
    <message>
        <source>The model with what was learned inside, in one file for llama.cpp, LM Studio and Ollama.</source>
        <translation>Das Modell mit dem Gelernten darin, in einer Datei für llama.cpp, LM Studio und Ollama.</translation>
    </message>
    <message>
        <source>What fits here</source>
        <translation>Was hier passt</translation>
    </message>
    <message>
        <source>Why nothing bigger</source>
        <translation>Warum nichts Größeres</translation>
    </message>
    <message>
        <source>Looking at the memory</source>
        <translation>Der Speicher wird angesehen</translation>
    </message>
    <message>
        <source>{memory} of memory, {free} free now.</source>
        <translation>{memory} Speicher, davon jetzt {free} frei.</translation>
    </message>
    <message>
        <source>{card} with {memory}, {free} free now.</source>
        <translation>{card} mit {memory}, davon jetzt {free} frei.</translation>
    </message>
    <message>
        <source>Nothing fits: {reason}</source>
        <translation>Nichts passt: {reason}</translation>
    </message>
    <message>
        <source>The strongest model that it can teach well is {model}.</source>
        <translation>Das stärkste Modell, das dieser Computer gut unterrichten kann, ist {model}.</translation>
    </message>
    <message>
        <source>It can teach none, but {model} can answer.</source>
        <translation>Unterrichten kann dieser Computer keins, aber {model} kann antworten.</translation>
    </message>
    <message>
        <source>Estimates for such a computer were never compared with a measured peak.</source>
        <translation>Die Schätzungen für einen solchen Computer wurden nie mit einem gemessenen Höchstwert verglichen.</translation>
    </message>
    <message>
        <source>{takes} of {free} free</source>
        <translation>{takes} von freien {free}</translation>
    </message>
    <message>
        <source>card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>computer</source>
        <translation>Computer</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Gewählt</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>Teil</translation>
    </message>
    <message>
        <source>Memory of each way, part by part</source>
        <translation>Speicher jedes Weges, Teil für Teil</translation>
    </message>
    <message>
        <source>{model} is installed ({size}).</source>
        <translation>{model} ist installiert ({size}).</translation>
    </message>
    <message>
        <source>Cancelled. What has arrived of a download is kept.</source>
        <translation>Abgebrochen. Was von einem Download angekommen ist, bleibt erhalten.</translation>
    </message>
    <message>
        <source>Download another model</source>
        <translation>Anderes Modell herunterladen</translation>
    </message>
    <message>
        <source>Models for transformers (Llama, Qwen2, Qwen3, SmolLM3) answer and learn; GGUF files only answer. Others are refused before anything large is downloaded. Choose whom you download from.</source>
        <translation>Modelle für transformers (Llama, Qwen2, Qwen3, SmolLM3) antworten und lernen; GGUF-Dateien antworten nur. Andere werden abgelehnt, bevor etwas Großes heruntergeladen wird. Überlege, von wem du herunterlädst.</translation>
    </message>
    <message>
        <source>The newest of its main branch; or one version of it: OWNER/NAME@REVISION</source>
        <translation>Die neueste Fassung seines Hauptzweigs; oder eine bestimmte: OWNER/NAME@REVISION</translation>
    </message>
    <message>
        <source>Where a repository has several models. By comma; empty: what the model needs.</source>
        <translation>Wo ein Repository mehrere Modelle hat. Mit Komma getrennt; leer: was das Modell braucht.</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>Repository</translation>
    </message>
    <message>
        <source>Files, if you like</source>
        <translation>Dateien, wenn du magst</translation>
    </message>
    <message>
        <source>A repository is written OWNER/NAME, or OWNER/NAME@REVISION.</source>
        <translation>Ein Repository wird OWNER/NAME oder OWNER/NAME@REVISION geschrieben.</translation>
    </message>
    <message>
        <source>Some models want their licence accepted on the hub&apos;s page, by an account. A read token of that account is kept in this computer&apos;s keyring, and sent to the hub only where it refuses without one.</source>
        <translation>Manche Modelle verlangen, dass ihre Lizenz auf der Seite des Hubs angenommen wird, mit einem Konto. Ein Lesetoken dieses Kontos wird im Schlüsselbund dieses Computers aufgehoben und dem Hub nur gesendet, wo er ohne eins ablehnt.</translation>
    </message>
    <message>
        <source>Keep the token</source>
        <translation>Token behalten</translation>
    </message>
    <message>
        <source>Forget the kept one</source>
        <translation>Behaltenes vergessen</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>The token is in this computer&apos;s keyring.</source>
        <translation>Das Token liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>There is no token here any more.</source>
        <translation>Hier ist kein Token mehr.</translation>
    </message>
</context>
</TS>
